package io.streamjob.probe;

/** What the tasks of a stage open one of their stores by. */
final class Recipe {
  final long operator;
  final String store;
  final int place; // of the store among those that its operator names the versions of
  final boolean named; // its versions have names
  final Object[] parts; // as executors want them: see Store

  Recipe(long operator, String store, int place, boolean named, Object[] parts) {
    this.operator = operator;
    this.store = store;
    this.place = place;
    this.named = named;
    this.parts = parts;
  }
}
