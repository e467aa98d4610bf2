"""Addresses and routes of the local cluster's nodes, as plain arithmetic."""

from __future__ import annotations

import ipaddress

import pytest
from e2e.cluster import network
from e2e.cluster.network import Addresses


@pytest.fixture(params=["IPv4", "IPv6"])
def addresses(request: pytest.FixtureRequest) -> Addresses:
    return network.KNOWN[request.param]


def _after(command: network.Command, word: str) -> str:
    return command[command.index(word) + 1]


def test_nodes_pods_and_services_have_addresses_of_their_own(addresses: Addresses) -> None:
    pods = [ipaddress.ip_network(one.pods) for one in (addresses.first, addresses.second)]
    services = ipaddress.ip_network(addresses.services)
    assert not pods[0].overlaps(pods[1])
    assert all(one.subnet_of(ipaddress.ip_network(addresses.pods)) for one in pods)
    assert not services.overlaps(ipaddress.ip_network(addresses.pods))
    nodes = {ipaddress.ip_address(one.address) for one in (addresses.first, addresses.second)}
    assert len(nodes) == 2
    assert not any(address in one for address in nodes for one in (*pods, services))


def test_the_api_servers_service_is_the_first_of_all(addresses: Addresses) -> None:
    assert ipaddress.ip_address(addresses.api_service) == next(ipaddress.ip_network(addresses.services).hosts())


def test_the_first_node_is_reached_by_the_address_that_the_second_one_routes_to(addresses: Addresses) -> None:
    addressed = next(one for one in network.to_join(addresses.first, addresses.second) if "address" in one)
    second = ipaddress.ip_interface(_after(addressed, "add"))
    assert ipaddress.ip_address(addresses.first.address) in second.network
    routes = {_after(one, "add"): one for one in network.to_join(addresses.first, addresses.second) if "route" in one}
    assert set(routes) == {"default", addresses.first.pods, addresses.second.pods}
    assert _after(routes["default"], "via") == _after(routes[addresses.first.pods], "via") == addresses.first.address
    assert _after(routes[addresses.second.pods], "via") == addresses.second.address
    assert {_after(routes[addresses.first.pods], "-n"), _after(routes[addresses.second.pods], "-n")} == {
        addresses.first.namespace,
        addresses.second.namespace,
    }


def test_parting_undoes_what_joining_did_in_the_first_nodes_network(addresses: Addresses) -> None:
    made = {
        (one[4], _after(one, "add"))
        for one in network.to_join(addresses.first, addresses.second)
        if one[:4] == addresses.first.ip and "add" in one
    }
    gone = {
        (one[4], _after(one, "delete"))
        for one in network.to_part(addresses.first, addresses.second)
        if one[:4] == addresses.first.ip
    }
    assert made == gone
    assert ("ip", "netns", "delete", addresses.second.namespace) in network.to_part(addresses.first, addresses.second)


def test_one_cluster_has_addresses_of_one_kind(addresses: Addresses) -> None:
    sites = (addresses.first, addresses.second)
    told = (*(one.address for one in sites), addresses.api_service)
    ranges = (*(one.pods for one in sites), addresses.pods, addresses.services, addresses.all_)
    versions = {ipaddress.ip_address(one).version for one in told} | {
        ipaddress.ip_network(one).version for one in ranges
    }
    assert len(versions) == 1


def test_which_is_said_by_the_environment() -> None:
    assert network.wanted({}) is network.KNOWN["IPv4"]
    assert network.wanted({"ADDRESSES": "IPv6"}) is network.KNOWN["IPv6"]
    with pytest.raises(ValueError, match="ADDRESSES is 6: it may be IPv4 or IPv6"):
        network.wanted({"ADDRESSES": "6"})
