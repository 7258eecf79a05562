"""Results of a class for a learning record store (LRS): xAPI 1.0.3 statements, and a cmi5 package.

There is one statement per seat. By default, an account is the number of a seat. Names are included only on
request. A statement has no timestamp, because the record contains no wall time. The LRS adds the time of
storage.
"""

import io
import json
import zipfile
from html import escape
from importlib import resources
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from app.classroom.debrief import ClassReview, SeatReview

ACCOUNT_HOME_PAGE: Final = "https://mirrordrill.invalid"
"""Identifier of the accounts, in a reserved domain [RFC 2606]. No program ever contacts this address."""
VERB_BY_COMPLETION: Final = {
    True: ("http://adlnet.gov/expapi/verbs/completed", "completed"),
    False: ("http://adlnet.gov/expapi/verbs/attempted", "attempted"),
}
"""xAPI verb of a run: key True if the run is over, False if it is not."""
SIMULATION_ACTIVITY_TYPE: Final = "http://adlnet.gov/expapi/activities/simulation"
COURSE_STRUCTURE_NAMESPACE: Final = "https://w3id.org/xapi/profiles/cmi5/v1/CourseStructure.xsd"


def build_statements(review: ClassReview, key: str, with_names: bool) -> list[dict[str, object]]:
    """Return one xAPI statement per seat.

    *key* identifies the class. The same class always results in the same statements.
    """
    return [_build_statement(review, seat, key, with_names) for seat in review.seats]


def _build_statement(review: ClassReview, seat: SeatReview, key: str, with_names: bool) -> dict[str, object]:
    is_over = seat.verdict["ended_by"] is not None
    verb, word = VERB_BY_COMPLETION[is_over]
    actor: dict[str, object] = {
        "objectType": "Agent",
        "account": {"homePage": f"{ACCOUNT_HOME_PAGE}/class/{key}", "name": f"seat-{seat.number}"},
    }
    if with_names:
        actor["name"] = seat.name
    result: dict[str, object] = {"completion": is_over, "duration": f"PT{seat.verdict['t_s']:.2f}S"}
    if (score := seat.verdict["score"]) is not None:
        result["score"] = {"scaled": round(score / 100.0, 4), "raw": score, "min": 0, "max": 100}
    return {
        "id": str(
            uuid5(
                NAMESPACE_URL,
                f"{ACCOUNT_HOME_PAGE}/class/{key}/seat/{seat.number}/{seat.verdict['state_hash']}",
            )
        ),
        "version": "1.0.3",
        "actor": actor,
        "verb": {"id": verb, "display": {"en": word}},
        "object": {
            "objectType": "Activity",
            "id": build_activity_page(review),
            "definition": {"type": SIMULATION_ACTIVITY_TYPE, "name": {"en": review.title}},
        },
        "result": result,
        "context": {
            "registration": str(uuid5(NAMESPACE_URL, f"{ACCOUNT_HOME_PAGE}/class/{key}/seat/{seat.number}")),
            "platform": "Mirrordrill",
            "extensions": {
                f"{ACCOUNT_HOME_PAGE}/x/seed": review.seed,
                f"{ACCOUNT_HOME_PAGE}/x/mode": review.mode,
            },
        },
    }


def build_activity_page(review: ClassReview) -> str:
    """Return the web page of the course unit."""
    return f"{ACCOUNT_HOME_PAGE}/drill/{review.scenario}"


def build_cmi5_package(review: ClassReview, page: str) -> bytes:
    """Build a cmi5 course for a learning management system (LMS). Its only unit is the class debrief.

    The unit reports that it was read. The LMS adds its address, a token and the learner to the unit's URL
    [cmi5, Quartz 1st edition, 8.1].
    """
    structure = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<courseStructure xmlns="{COURSE_STRUCTURE_NAMESPACE}">\n'
        f'  <course id="{build_activity_page(review)}/course">\n'
        f'    <title><langstring lang="en">{escape(review.title)}</langstring></title>\n'
        '    <description><langstring lang="en">Mirrordrill: debrief of a class</langstring></description>\n'
        "  </course>\n"
        f'  <au id="{build_activity_page(review)}/debrief" launchMethod="OwnWindow" moveOn="Completed">\n'
        f'    <title><langstring lang="en">{escape(review.title)}</langstring></title>\n'
        '    <description><langstring lang="en">What the seats did, where they parted, and what that cost'
        "</langstring></description>\n"
        "    <url>index.html</url>\n"
        "  </au>\n"
        "</courseStructure>\n"
    )
    script = resources.files("assets").joinpath("cmi5.js").read_text(encoding="utf-8")
    document = page.replace("default-src 'none'", "default-src 'none'; script-src 'self'; connect-src *")
    document = document.replace("</body>", '<script src="cmi5.js"></script></body>')
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (("cmi5.xml", structure), ("index.html", document), ("cmi5.js", script)):
            archive.writestr(name, text)
    return buffer.getvalue()


def format_statements(review: ClassReview, key: str, with_names: bool) -> str:
    """Return the xAPI statements of a class, with names or numbers."""
    return json.dumps(build_statements(review, key, with_names), ensure_ascii=False, indent=1)
