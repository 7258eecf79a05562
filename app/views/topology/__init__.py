"""Topology view: a picture of servers, copies, links and applications."""

from app.views.topology.view import Topology

__all__ = ["Topology"]
