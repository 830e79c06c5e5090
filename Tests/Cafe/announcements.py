"""What access points announce before anything is joined, as `hotspotctl list --verbose` shows it: a hint that nothing acts on."""

import time

from daemon import Daemon
from networks import FREE, HOTEL, HOME
from report import Report

LOGIN = "https://portal.lindenhof.example/login"


def check(daemon: Daemon, report: Report, prefix: str, liar: bool = True) -> None:
    """Looks until the answers are there: a scan delays them, here NetworkManager's of all channels by many seconds, and then they are in a
    later list."""
    deadline = time.monotonic() + 60
    while True:
        listed = {entry["ssid"]: entry.get("announced") or {} for entry in daemon.json("list", "--verbose")["networks"]}
        hotel, free = listed.get(HOTEL.ssid, {}), listed.get(FREE.ssid, {})
        if hotel.get("loginURL") and (free.get("loginURL") or not liar) or time.monotonic() > deadline:
            break
        time.sleep(1)
    elements = {"additionalStep": True, "anqp": True, "internet": True, "networkType": "chargeable", "openRoaming": True, "venueGroup": 7,
                "venueType": 2, "consortia": ["5a03ba0000", "004096"], "hessid": HOTEL.hardware}
    report.check(f"{prefix}.elements", all(hotel.get(key) == value for key, value in elements.items()), str(hotel))
    answers = {"loginURL": LOGIN, "loginOrigin": LOGIN.removesuffix("/login"), "steps": ["redirection"], "venueNames": [HOTEL.ssid],
               "venueURL": "https://www.lindenhof.example/info", "domains": ["lindenhof.example"], "realms": ["lindenhof.example"]}
    report.check(f"{prefix}.answers", all(hotel.get(key) == value for key, value in answers.items()), str(hotel))
    shown = daemon.ctl("list", "--verbose").stdout
    report.say("$ hotspotctl list --verbose")
    report.say(shown.rstrip())
    report.check(f"{prefix}.shown", "login expected, OpenRoaming" in shown and f"  \u2502 login: {LOGIN}" in shown, shown)
    if liar:
        # Its words are words: nothing of them reaches the terminal as a command, and its elements are those that can be read.
        names = free.get("venueNames", [])
        right = free.get("networkType") == "free" and "consortia" not in free and names[:1] == ["\\x1b[2J\\xff\\xfe Hotel Lindenhof"]
        report.check(f"{prefix}.lie", right and len(names) <= 4 and max(map(len, names)) <= 100, str(free))
    report.check(f"{prefix}.printable", all(32 <= ord(letter) != 127 or letter == "\n" for letter in shown))
    report.check(f"{prefix}.nothingElsewhere", HOME.ssid in listed and not listed[HOME.ssid], str(listed.get(HOME.ssid)))
