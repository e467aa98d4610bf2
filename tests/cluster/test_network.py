"""Addresses and routes of the local cluster's nodes, as plain arithmetic."""

from __future__ import annotations

import ipaddress

from e2e.cluster import network
from e2e.cluster.network import FIRST, SECOND


def _after(command: network.Command, word: str) -> str:
    return command[command.index(word) + 1]


def test_nodes_pods_and_services_have_addresses_of_their_own() -> None:
    pods = [ipaddress.ip_network(one.pods) for one in (FIRST, SECOND)]
    services = ipaddress.ip_network(network.SERVICE_CIDR)
    assert not pods[0].overlaps(pods[1])
    assert all(one.subnet_of(ipaddress.ip_network(network.POD_CIDR)) for one in pods)
    assert not services.overlaps(ipaddress.ip_network(network.POD_CIDR))
    nodes = {ipaddress.ip_address(one.address) for one in (FIRST, SECOND)}
    assert len(nodes) == 2
    assert not any(address in one for address in nodes for one in (*pods, services))


def test_the_api_servers_service_is_the_first_of_all() -> None:
    assert ipaddress.ip_address(network.API_SERVICE) == next(ipaddress.ip_network(network.SERVICE_CIDR).hosts())


def test_the_first_node_is_reached_by_the_address_that_the_second_one_routes_to() -> None:
    addressed = next(one for one in network.to_join(FIRST, SECOND) if "address" in one)
    second = ipaddress.ip_interface(_after(addressed, "add"))
    assert ipaddress.ip_address(FIRST.address) in second.network
    routes = {_after(one, "add"): one for one in network.to_join(FIRST, SECOND) if "route" in one}
    assert set(routes) == {"default", FIRST.pods, SECOND.pods}
    assert _after(routes["default"], "via") == _after(routes[FIRST.pods], "via") == FIRST.address
    assert _after(routes[SECOND.pods], "via") == SECOND.address
    assert {_after(routes[FIRST.pods], "-n"), _after(routes[SECOND.pods], "-n")} == {FIRST.namespace, SECOND.namespace}


def test_parting_undoes_what_joining_did_in_the_first_nodes_network() -> None:
    made = {
        (one[3], _after(one, "add")) for one in network.to_join(FIRST, SECOND) if one[:3] == FIRST.ip and "add" in one
    }
    gone = {(one[3], _after(one, "delete")) for one in network.to_part(FIRST, SECOND) if one[:3] == FIRST.ip}
    assert made == gone
    assert ("ip", "netns", "delete", SECOND.namespace) in network.to_part(FIRST, SECOND)
