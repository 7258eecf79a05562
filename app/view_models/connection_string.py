"""Connection string of an application, the input that changes it, and the log of the driver. No Qt."""

from collections.abc import Iterable, Mapping
from typing import Final

from app.words import formatting
from app.words.language import tr
from app.words.localization import localize
from engine.events import ClientData, Event, select_data
from engine.model import Client

CATALOG_KEYWORD: Final = "Initial Catalog"
KEYWORD_DEFAULTS: Final[Mapping[str, str]] = {
    "failover partner": "",
    "connect timeout": "15",
    "command timeout": "30",
    "applicationintent": "ReadWrite",
    "multisubnetfailover": "no",
    "retry": "no",
}
"""Keyword of a connection string -> default value.

Removing the keyword sets its default. The defaults are documented, except for Retry, which exists only in
Mirrordrill.
"""


def build_connection_string(client: Client) -> str:
    """Return the connection string of *client*. The keyword Retry says whether the client reconnects."""
    parts = {"Data Source": client.data_source}
    if client.failover_partner:
        parts["Failover Partner"] = client.failover_partner
    if client.databases:
        parts[CATALOG_KEYWORD] = client.databases[0]
    if client.multi_subnet:
        parts["MultiSubnetFailover"] = "yes"
    if client.read_only:
        parts["ApplicationIntent"] = "ReadOnly"
    parts["Connect Timeout"] = f"{client.login_timeout_s:g}"
    if client.command_timeout_s is not None:
        parts["Command Timeout"] = f"{client.command_timeout_s:g}"
    parts["Retry"] = "yes" if client.reconnects else "no"
    return ";".join(f"{name}={value}" for name, value in parts.items())


def build_change_input(client: Client, text: str) -> str:
    """Return the input that gives *client* the connection string *text*; empty if nothing changes."""
    before, new_settings = (
        _parse_settings(build_connection_string(client)),
        _parse_settings(" ".join(text.split("\n"))),
    )
    changed_settings = {
        key: setting for key, setting in new_settings.items() if before.get(key, ("", ""))[1] != setting[1]
    }
    for key, (name, value) in before.items():
        if key not in new_settings and value != KEYWORD_DEFAULTS.get(key, value):
            changed_settings[key] = (name, KEYWORD_DEFAULTS[key])
    words = ";".join(f"{name}={value}" for name, value in changed_settings.values())
    return f"configure-app {client.name} {words}" if words else ""


def _parse_settings(text: str) -> dict[str, tuple[str, str]]:
    """Return lowercase keyword -> (keyword as written, value)."""
    settings = {}
    for part in filter(str.strip, text.split(";")):
        name, _, value = (word.strip() for word in part.partition("="))
        settings[name.lower()] = (name, value)
    return settings


def read_driver_log(events: Iterable[Event], client: str) -> list[str]:
    """Return the log lines of the driver of *client*, oldest first."""
    return [
        f"{formatting.format_run_time(event.t_s, 2)}  {localize(event.text)}"
        for event, change in select_data(events, ClientData)
        if change.client == client
    ]


def describe_driver(client: Client) -> str:
    """Describe the driver of *client*, and its behavior after a lost connection, in a sentence."""
    driver = client.driver or tr("documented behavior of mirroring drivers")
    retry = tr("reconnects automatically") if client.reconnects else tr("does not reconnect automatically")
    return tr("Driver: {driver}. The application {retry}.").format(driver=driver, retry=retry)
