"""Histograms of the streams of the stateful load balancing paper (section 5): tuples of each substream in each window.

S1 and S2 as published; what the paper leaves out is chosen here: tuples a second as the unit of lambda, a standard
deviation of 15 around the middle key, exponent 1. The Twitter collection is not to be had: `words` is a stand-in of its
published shape (10,637,691 tweets in 29.4 hours), words with a Zipf-Mandelbrot law, drifting, with trends that come
and fade, hashed into 100 substreams.
"""

from __future__ import annotations

import numpy as np

from streamjob_planners.model import FloatArray

SUBSTREAMS = 100
WINDOWS, WINDOW_S = 120, 60.0
RATE = 10_000.0
KEY_SD, ZIPF_EXPONENT = 15.0, 1.0

TWEETS_A_S = 10_637_691 / (29 * 3600 + 23 * 60 + 22)
WORDS_A_TWEET = 10
VOCABULARY, MANDELBROT = 50_000, 2.7
DRIFT_SD, DRIFT_KEPT = 0.8, 0.7
TRENDS, TREND_SHARE, TREND_WINDOWS = 24, 0.04, 8.0


def gaussian_keys() -> FloatArray:
    """S1: probability of each key, (100,)."""
    keys = np.arange(1, SUBSTREAMS + 1)
    weight = np.exp(-0.5 * ((keys - keys.mean()) / KEY_SD) ** 2)
    return np.asarray(weight / weight.sum())


def zipf_keys() -> FloatArray:
    """S2: probability of each key, (100,)."""
    weight = np.arange(1, SUBSTREAMS + 1) ** -ZIPF_EXPONENT
    return np.asarray(weight / weight.sum())


def poisson(keys: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Two hours of Poisson arrivals with those keys, (120, 100)."""
    return np.asarray(rng.poisson(RATE * WINDOW_S * keys, size=(WINDOWS, keys.size)), dtype=np.float64)


def words(rng: np.random.Generator) -> FloatArray:
    """Two hours of the stand-in for Twitter, words by minute and substream, (120, 100)."""
    rank = np.arange(1, VOCABULARY + 1)
    base = 1.0 / (rank + MANDELBROT)
    substream = rng.integers(SUBSTREAMS, size=VOCABULARY)
    trends = _trends(rng)
    drift = rng.normal(0.0, DRIFT_SD, VOCABULARY)
    rows = []
    for window in range(WINDOWS):
        drift = DRIFT_KEPT * drift + rng.normal(0.0, DRIFT_SD * np.sqrt(1 - DRIFT_KEPT**2), VOCABULARY)
        weight = base * np.exp(drift)
        share = np.bincount(substream, weight / weight.sum(), SUBSTREAMS)
        share = share * (1 - trends[window].sum()) + trends[window]
        hour = 1 + 0.2 * np.sin(2 * np.pi * window / (4 * WINDOWS))
        rows.append(rng.poisson(TWEETS_A_S * WORDS_A_TWEET * WINDOW_S * hour * share))
    return np.asarray(rows, dtype=np.float64)


def _trends(rng: np.random.Generator) -> FloatArray:
    """Share of all words that trending ones take, by window and substream: each rises at once and fades."""
    share = np.zeros((WINDOWS, SUBSTREAMS))
    for _ in range(TRENDS):
        start, substream = int(rng.integers(WINDOWS)), int(rng.integers(SUBSTREAMS))
        fading = np.exp(-np.arange(WINDOWS - start) / TREND_WINDOWS)
        share[start:, substream] += rng.uniform(0.2, 1.0) * TREND_SHARE * fading
    return share
