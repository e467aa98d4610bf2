"""Answers to inputs that are small enough to see what is right."""

from __future__ import annotations

from typing import Any

from jobs import ysb
from jobs.albic import edits, flights
from jobs.daily import ads, clicks, fraud
from jobs.job import Query, Row, Rows, Taken
from jobs.nexmark import counts, joins, prices
from jobs.papers import bargains, linear_road, packets, roads, words

SECOND, MINUTE = 1_000, 60_000


def answered(query: Query, *batches: dict[str, Rows]) -> list[Rows]:
    taken = [Taken(rows=rows, clock_ms=100 * SECOND + at) for at, rows in enumerate(batches)]
    return query.answer(taken)


def bid(auction: int, at_s: float, bidder: int = 1, price: int = 500) -> Row:
    return {"auction": auction, "bidder": bidder, "price": price, "at_ms": int(at_s * SECOND)}


def person(number: int, at_s: float, state: str = "OR") -> Row:
    return {"id": number, "name": f"p{number}", "city": "c", "state": state, "at_ms": int(at_s * SECOND)}


def item(number: int, seller: int, at_s: float, ends_s: float = 99, category: int = 10) -> Row:
    times = {"at_ms": int(at_s * SECOND), "expires_ms": int(ends_s * SECOND)}
    return {"id": number, "seller": seller, "category": category, "initial": 100, **times}


def test_nexmark_3_pairs_come_with_the_later_one_and_others_states_never() -> None:
    first = {"persons": [person(1, 0), person(2, 0, "WA")], "auctions": [item(7, 1, 0), item(8, 2, 0), item(9, 3, 0)]}
    later = {"persons": [person(3, 1)], "auctions": [item(10, 1, 1), item(11, 1, 1, category=12)]}
    right = [[row["id"] for row in rows] for rows in answered(joins.QUERY_3, first, later)]
    assert right == [[7], [9, 10]]


def test_nexmark_4_the_highest_valid_bid_counts_and_the_mean_comes_when_the_auctions_window_closes() -> None:
    first = [bid(1, 2, price=300), bid(1, 3, price=500), bid(1, 6, price=900)]
    offers = [*first, bid(2, 2, price=50), bid(3, 2, price=100)]
    start = {"auctions": [item(1, 1, 1, 5), item(2, 1, 1, 5), item(3, 1, 1, 6)], "bids": offers}
    later = {"auctions": [item(4, 1, 100, 110)], "bids": [bid(4, 100)]}
    right = answered(prices.QUERY_4, start, later, {})
    assert right == [[], [], [{"ends_ms": 10_000, "category": 10, "auctions": 2, "mean": 300}]]


def test_nexmark_5_and_7_the_top_of_a_window_comes_when_it_closes() -> None:
    bids = [{"bids": [bid(1, 1), bid(2, 1, price=900), bid(2, 1.5)]}, {"bids": [bid(3, 14)]}, {}]
    hot = answered(counts.QUERY_5, *bids)
    assert hot[2][0] == {"ends_ms": 2_000, "auction": 2, "bids": 2}
    assert [row["ends_ms"] for row in hot[2]] == [2_000, 4_000, 6_000, 8_000, 10_000]
    high = answered(prices.QUERY_7, *bids)
    assert high == [[], [], [{"ends_ms": 10_000, "price": 900, "bidder": 1, "auction": 2}]]


def test_nexmark_8_who_came_before_the_window_is_not_new() -> None:
    start = {"persons": [person(1, 1), person(2, 11)], "auctions": [item(5, 1, 12), item(6, 2, 13), item(7, 2, 14)]}
    right = answered(joins.QUERY_8, start, {"persons": [person(3, 30)], "auctions": [item(8, 9, 30)]}, {})
    assert right == [[], [], [{"id": 2, "name": "p2", "ends_ms": 20_000, "items": 2}]]


def test_nexmark_11_and_12_sessions_and_the_clocks_windows() -> None:
    bids = [{"bids": [bid(1, 1), bid(2, 9)]}, {"bids": [bid(1, 40)]}, {}]
    assert answered(counts.QUERY_11, *bids) == [[], [], [{"bidder": 1, "bids": 2, "ends_ms": 19_000}]]
    clock = answered(counts.QUERY_12, *bids)
    assert [[row["bids"] for row in rows] for rows in clock] == [[2], [3], []]
    assert clock[0][0]["ends_ms"] == 110_000


def test_ysb_clicks_neither_count_nor_move_the_watermark() -> None:
    def event(ad: int, kind: str, at_s: int) -> Row:
        return {"user": 1, "ad": ad, "kind": kind, "at_ms": at_s * SECOND}

    start = [event(3, "view", 1), event(103, "view", 2), event(3, "click", 90)]
    right = answered(ysb.JOBS[0].queries[0], {"events": start}, {"events": [event(3, "view", 11)]}, {})
    assert right == [[], [], [{"campaign": "campaign-3", "ends_ms": 10_000, "views": 2}]]


def click(number: int, at_s: float, device: str = "app", page: str = "/a", visitor: int = 1) -> Row:
    return {"click": number, "visitor": visitor, "page": page, "device": device, "at_ms": int(at_s * SECOND)}


def test_visits_last_as_long_as_the_devices_pause() -> None:
    start = [click(1, 0), click(2, 15, page="/b"), click(3, 36, page="/c"), click(4, 0, "web", visitor=2)]
    first, last = answered(clicks.JOBS[0].queries[0], {"clicks": start}, {"clicks": [click(5, 200, visitor=3)]}, {})[1:]
    assert first == []
    assert sorted((row["visitor"], row["ends_ms"], row["clicks"], row["last"]) for row in last) == [
        (1, 35_000, 2, "/b"),
        (1, 56_000, 1, "/c"),
        (2, 60_000, 1, "/a"),
    ]


def test_a_click_counts_once_until_it_is_forgotten() -> None:
    first = {"clicks": [click(1, 10), click(1, 10), click(2, 20)]}
    right = answered(clicks.JOBS[1].queries[0], first, {"clicks": [click(1, 10), click(3, 100)]}, {})
    assert right == [[], [], [{"page": "/a", "ends_ms": 60_000, "clicks": 2}]]


def test_an_ad_comes_with_its_click_in_time_or_without_one_when_none_can_come() -> None:
    shown = [{"view": view, "ad": 9, "at_ms": 1_000} for view in (1, 2, 3)]
    clicked = [{"viewed": 1, "at_ms": 20_000}, {"viewed": 2, "at_ms": 31_001}]
    later = {"shown": [{"view": 4, "ad": 9, "at_ms": 100_000}], "clicks": [{"viewed": 4, "at_ms": 100_000}]}
    right = answered(ads.JOBS[0].queries[0], {"shown": shown, "clicks": clicked}, later, {})
    assert [[(row["view"], row["clicked_ms"]) for row in rows] for rows in right] == [
        [(1, 20_000)],
        [(4, 100_000)],
        [(2, None), (3, None)],
    ]


def payment(number: int, cents: int, at_s: int, shop: int = 1) -> Row:
    return {"payment": number, "card": 7, "shop": shop, "cents": cents, "at_ms": at_s * SECOND}


def test_a_card_is_tested_within_a_minute_and_then_forgotten() -> None:
    first = {"payments": [payment(1, 100, 1), payment(2, 60_000, 60), payment(3, 60_000, 61), payment(4, 900, 62)]}
    right = answered(fraud.JOBS[0].queries[0], first, {"payments": [payment(5, 60_000, 90)]}, {})
    assert [[(row["payment"], row["rule"]) for row in rows] for rows in right] == [
        [(2, "tested")],
        [],
        [(61_000, "forgotten")],
    ]


def test_the_fifth_shop_of_a_card_is_an_alarm_once() -> None:
    visits = [payment(shop, 900, shop, shop) for shop in (1, 2, 3, 4, 5)]
    again = {"payments": [payment(6, 900, 6, 5), payment(7, 900, 7, 6)]}
    right = answered(fraud.JOBS[0].queries[1], {"payments": visits}, again)
    assert [[(row["payment"], row["shops"]) for row in rows] for rows in right] == [[(5, 5)], [(7, 6)]]


def test_the_top_of_all_is_made_of_the_tops_of_places() -> None:
    here, there = (55_676_000, 12_568_000), (57_048_000, 9_919_000)
    assert edits.geohash(*here) == "u3bu"  # Copenhagen
    assert edits.geohash(*there)[:2] == "u4"  # Aalborg
    some = [_edit(article, here) for article in (1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6)] + [_edit(6, there)]
    right = answered(edits.JOBS[0].queries[0], {"edits": some}, {"edits": [_edit(1, here, 100)]}, {})
    assert [(row["rank"], row["article"], row["edits"]) for row in right[2]] == [
        (0, 1, 3),
        (1, 5, 2),
        (2, 4, 2),
        (3, 3, 2),
        (4, 2, 2),
    ]  # the edit of 6 here is in no top, so its sum is that of Aalborg


def _edit(article: int, place: tuple[int, int], at_s: int = 1) -> Row:
    return {"article": article, "latitude": place[0], "longitude": place[1], "at_ms": at_s * SECOND}


def flight(plane: int, late_min: int, day: int, origin: str = "A00") -> Row:
    where = {"plane": plane, "courier": "AA", "origin": origin, "destination": "A01", "year": 2005}
    return {**where, "expected_min": 100, "arrived_min": 100 + late_min, "at_ms": day * flights.DAY_MS}


def test_early_flights_have_no_delay_and_rain_comes_in_tenths() -> None:
    first = {"flights": [flight(1, -20, 10), flight(1, 30, 10), flight(2, 5, 10, "A05")]}
    (planes,) = answered(flights.PLANES, first)
    assert [tuple(row.values()) for row in planes] == [(1, 2005, 2, 30), (2, 2005, 1, 5)]
    rain: dict[str, Any] = {"weather": [{"station": "A00", "rain": 180, "at_ms": 10 * flights.DAY_MS + MINUTE}]}
    last = {**rain["weather"][0], "at_ms": 20 * flights.DAY_MS}
    later: dict[str, Any] = {"flights": [flight(9, 0, 20)], "weather": [last]}
    right = answered(flights.RAIN, first, rain, later, {})
    (row,) = right[3]
    assert (row["courier"], row["score"], row["flights"], row["delay_min"]) == ("AA", 40, 2, 30)
    assert right[:3] == [[], [], []]


def test_words_of_a_minute() -> None:
    first = {"tweets": [{"text": "a b a", "at_ms": 1_000}, {"text": "a", "at_ms": 61_000}]}
    right = answered(words.JOBS[0].queries[0], first, {"tweets": [{"text": "c", "at_ms": 80_000}]}, {})
    assert right[1] == []
    assert right[2] == [{"word": "a", "ends_ms": 60_000, "times": 2}, {"word": "b", "ends_ms": 60_000, "times": 1}]


def packet(source: int, size: int, at_ms: int, target: int = 1) -> Row:
    ports = {"source_port": 1, "target_port": 443}
    return {"source": source, "target": target, "bytes": size, "at_ms": at_ms, **ports}


def test_only_many_small_packets_in_a_second_are_told() -> None:
    small = [packet(1, 100, 100 * i) for i in range(4)]
    large = [packet(2, 1_000, 100 * i) for i in range(4)]
    few = [packet(3, 100, 0)]
    later = {"packets": [packet(4, 100, 70_000)]}
    right = answered(packets.JOBS[0].queries[0], {"packets": small + large + few}, later, {})
    assert right[2] == [{"source": 1, "source_port": 1, "ends_ms": 1_000, "packets": 4, "mean_bytes": 100}]
    several = answered(packets.JOBS[1].queries[0], {"packets": [packet(1, 100, 0), packet(1, 300, 10, 2)]}, later, {})
    told = {
        (row["resolution"], row["target"], row["ends_ms"]): (row["packets"], row["mean_bytes"]) for row in several[2]
    }
    assert told["1000/1000", -1, 1_000] == (2, 200)
    assert told["1000/1000", 2, 1_000] == (1, 300)
    assert {end for what, target, end in told if what == "10000/5000" and target == -1} == {5_000, 10_000}


def report(vehicle: int, at_s: int, speed: int, position: int = 100, expressway: int = 3) -> Row:
    start, target = roads.ends_of(expressway)
    place = {"expressway": expressway, "segment": position // roads.SEGMENT_M, "position": position}
    return {"vehicle": vehicle, "origin": start, "target": target, "speed": speed, "at_ms": at_s * SECOND, **place}


def test_a_toll_is_due_where_many_are_slow_unless_two_stand_in_one_place() -> None:
    slow = [report(vehicle, 10, 15) for vehicle in range(5)]
    later = {"reports": [report(9, 200, 30, expressway=4)]}
    right = answered(linear_road.JOBS[0].queries[0], {"reports": slow}, later, {})
    facts = {"expressway": 3, "segment": 0, "ends_ms": 60_000}
    assert right[2] == [{**facts, "cars": 5, "speed": 15, "accident": 0, "toll": 8}]
    crash = [report(vehicle, at_s, 0) for vehicle in (7, 8) for at_s in (0, 10, 20, 30)]
    right = answered(linear_road.JOBS[0].queries[0], {"reports": slow + crash}, later, {})
    assert right[2] == [{**facts, "cars": 7, "speed": 5, "accident": 1, "toll": 0}]


def test_travels_end_with_silence_and_traffic_counts_vehicles_once() -> None:
    trip = {"reports": [report(1, 0, 20), report(1, 10, 20, 300), report(1, 20, 20, 500), report(2, 20, 20)]}
    later = {"reports": [report(9, 200, 30, expressway=4)]}
    travels = answered(linear_road.JOBS[0].queries[1], trip, later, {})
    assert {(row["vehicle"], row["took_ms"], row["reports"]) for row in travels[2]} == {(1, 20_000, 3), (2, 0, 1)}
    (pair,) = answered(linear_road.JOBS[0].queries[2], trip, later, {})[2]
    assert (pair["origin"], pair["target"], pair["vehicles"]) == (*roads.ends_of(3), 2)


def trade(price: int, volume: int, at_s: float, symbol: str = "S1") -> Row:
    return {"symbol": symbol, "price": price, "volume": volume, "at_ms": int(at_s * SECOND)}


def quote(number: int, ask: int, at_s: float, symbol: str = "S1") -> Row:
    return {"quote": number, "symbol": symbol, "ask": ask, "size": 10, "at_ms": int(at_s * SECOND)}


def test_a_quote_below_the_mean_of_its_interval_is_a_bargain_once_that_has_closed() -> None:
    first = {"trades": [trade(1_000, 3, 1), trade(1_400, 1, 2)], "quotes": [quote(1, 1_000, 5), quote(2, 1_100, 5)]}
    others = {"quotes": [quote(3, 999, 13), quote(4, 1, 1, "S2")], "trades": [trade(2_000, 1, 13)]}
    later = {"trades": [trade(1, 1, 60)], "quotes": [quote(5, 1, 60)]}
    right = answered(bargains.JOBS[0].queries[0], first, others, later, {})
    assert right[:2] == [[], []]
    # 1,000 and 1,400 cents, three to one: 1,100; a dollar less is e times the size.
    assert right[2] == [{"quote": 1, "symbol": "S1", "ask": 1_000, "ends_ms": 10_000, "vwap": 1_100, "index": 27}]
    assert [row["quote"] for row in right[3]] == [3]
