"""Languages of SET LANGUAGE as data: order of dates, first day of the week, names of months and days.

Source: [DOC: sys.syslanguages]. Nothing is ever taken from the machine on which this runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Language:
    """A row of sys.syslanguages."""

    number: int
    name: str
    alias: str
    dateformat: str
    datefirst: int
    months: tuple[str, ...]
    short_months: tuple[str, ...]
    days: tuple[str, ...]
    """From Monday on."""

    def __hash__(self) -> int:
        """Plans are looked up by what they were made for: to hash forty names each time would take longer."""
        return self.number


def _language(head: str, months: str, short_months: str, days: str) -> Language:
    number, name, alias, dateformat, datefirst = head.split("|")
    lists = [tuple(names.split(",")) for names in (months, short_months, days)]
    return Language(int(number), name, alias, dateformat, int(datefirst), lists[0], lists[1], lists[2])


_ENGLISH: Final = (
    "January,February,March,April,May,June,July,August,September,October,November,December",
    "Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec",
    "Monday,Tuesday,Wednesday,Thursday,Friday,Saturday,Sunday",
)

LANGUAGES: Final = (
    _language("0|us_english|English|mdy|7", *_ENGLISH),
    _language(
        "1|Deutsch|German|dmy|1",
        "Januar,Februar,März,April,Mai,Juni,Juli,August,September,Oktober,November,Dezember",
        "Jan,Feb,Mrz,Apr,Mai,Jun,Jul,Aug,Sep,Okt,Nov,Dez",
        "Montag,Dienstag,Mittwoch,Donnerstag,Freitag,Samstag,Sonntag",
    ),
    _language(
        "2|Français|French|dmy|1",
        "janvier,février,mars,avril,mai,juin,juillet,août,septembre,octobre,novembre,décembre",
        "janv,févr,mars,avr,mai,juin,juil,août,sept,oct,nov,déc",
        "lundi,mardi,mercredi,jeudi,vendredi,samedi,dimanche",
    ),
    _language(
        "4|Dansk|Danish|dmy|1",
        "januar,februar,marts,april,maj,juni,juli,august,september,oktober,november,december",
        "jan,feb,mar,apr,maj,jun,jul,aug,sep,okt,nov,dec",
        "mandag,tirsdag,onsdag,torsdag,fredag,lørdag,søndag",
    ),
    _language(
        "5|Español|Spanish|dmy|1",
        "Enero,Febrero,Marzo,Abril,Mayo,Junio,Julio,Agosto,Septiembre,Octubre,Noviembre,Diciembre",
        "Ene,Feb,Mar,Abr,May,Jun,Jul,Ago,Sep,Oct,Nov,Dic",
        "Lunes,Martes,Miércoles,Jueves,Viernes,Sábado,Domingo",
    ),
    _language(
        "6|Italiano|Italian|dmy|1",
        "gennaio,febbraio,marzo,aprile,maggio,giugno,luglio,agosto,settembre,ottobre,novembre,dicembre",
        "gen,feb,mar,apr,mag,giu,lug,ago,set,ott,nov,dic",
        "lunedì,martedì,mercoledì,giovedì,venerdì,sabato,domenica",
    ),
    _language(
        "7|Nederlands|Dutch|dmy|1",
        "januari,februari,maart,april,mei,juni,juli,augustus,september,oktober,november,december",
        "jan,feb,mrt,apr,mei,jun,jul,aug,sep,okt,nov,dec",
        "maandag,dinsdag,woensdag,donderdag,vrijdag,zaterdag,zondag",
    ),
    _language(
        "8|Norsk|Norwegian|dmy|1",
        "januar,februar,mars,april,mai,juni,juli,august,september,oktober,november,desember",
        "jan,feb,mar,apr,mai,jun,jul,aug,sep,okt,nov,des",
        "mandag,tirsdag,onsdag,torsdag,fredag,lørdag,søndag",
    ),
    _language(
        "9|Português|Portuguese|dmy|7",
        "janeiro,fevereiro,março,abril,maio,junho,julho,agosto,setembro,outubro,novembro,dezembro",
        "jan,fev,mar,abr,mai,jun,jul,ago,set,out,nov,dez",
        "segunda-feira,terça-feira,quarta-feira,quinta-feira,sexta-feira,sábado,domingo",
    ),
    _language(
        "10|Suomi|Finnish|dmy|1",
        "tammikuuta,helmikuuta,maaliskuuta,huhtikuuta,toukokuuta,kesäkuuta,heinäkuuta,elokuuta,syyskuuta,"
        "lokakuuta,marraskuuta,joulukuuta",
        "tammi,helmi,maalis,huhti,touko,kesä,heinä,elo,syys,loka,marras,joulu",
        "maanantai,tiistai,keskiviikko,torstai,perjantai,lauantai,sunnuntai",
    ),
    _language(
        "11|Svenska|Swedish|ymd|1",
        "januari,februari,mars,april,maj,juni,juli,augusti,september,oktober,november,december",
        "jan,feb,mar,apr,maj,jun,jul,aug,sep,okt,nov,dec",
        "måndag,tisdag,onsdag,torsdag,fredag,lördag,söndag",
    ),
    _language("23|British|British English|dmy|1", *_ENGLISH),
)

ENGLISH: Final = LANGUAGES[0]

_OTHERS: Final = """
日本語,Japanese,čeština,Czech,magyar,Hungarian,polski,Polish,română,Romanian,hrvatski,Croatian,slovenčina,Slovak,
slovenski,Slovenian,ελληνικά,Greek,български,Bulgarian,русский,Russian,Türkçe,Turkish,eesti,Estonian,latviešu,Latvian,
lietuvių,Lithuanian,Português (Brasil),Brazilian,繁體中文,Traditional Chinese,한국어,Korean,简体中文,Simplified Chinese,
Arabic,ไทย,Thai,Bokmål
"""
KNOWN: Final = frozenset(name.strip().casefold() for name in _OTHERS.split(","))
"""Languages that the product has and that are not simulated."""


def find(name: str) -> Language | None:
    """Return the language of that name or alias."""
    wanted = name.casefold()
    return next((one for one in LANGUAGES if wanted in (one.name.casefold(), one.alias.casefold())), None)


HIJRI_MONTHS: Final = (
    "محرم", "صفر", "ربيع الاول", "ربيع الثاني", "جمادى الاولى", "جمادى الثانية", "رجب", "شعبان", "رمضان",
    "شوال", "ذو القعدة", "ذو الحجة",
)  # fmt: skip
"""Months of styles 130 and 131. Documented [DOC: CAST and CONVERT, Hijri calendar]."""
