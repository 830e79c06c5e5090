#!/usr/bin/python3
"""The processor time that the worst known pages take, at the page's limit of 256 KiB and at a quarter of it, beside an ordinary login page.

    Tests/Benchmarks/page-limits.py [--bin .build/release] [--rounds 3] [--against OTHER/page-judge]

`page-judge` reads each page and decides on it, as a helper does. The time of a process that reads the ordinary page is subtracted. A page may
take one second of a core; linear reading takes four times as long for four times as much.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import tempfile

LIMIT, SCRIPT = 256 << 10, 125 << 10
MARKS = "\u0300\u0323"
FORM = "<form id=f name=f method=post action=/in{}><input name=user><input type=password name=pass><input type=submit value='Log in'></form>"


def times(part: str, size: int) -> str:
    return part * (size // len(part.encode()))


def script(part: str, share: float, before: str = "", after: str = "", handler: str = "") -> str:
    code = before + times(part, int(SCRIPT * share)) + after
    return FORM.format(f" onsubmit='{handler}'" if handler else "") + f"<script>{code}</script>"


def radios(share: float) -> str:
    group = "".join(f"<input type=radio name=r{number} value=1>" for number in range(int(200 * share)))
    return f"<form method=post action=/in>{group}<input type=submit value='Log in'></form>" * 20


PAGES = {
    "scripts within comments of scripts": lambda share: times("<script><!--<script></script>", int(LIMIT * share)),
    "marks behind a class, labelled gbk": lambda share: "<meta charset=gbk><style>.a" + times(MARKS, int(120_000 * share)) + "{}</style>",
    "marks behind a script's word, labelled iso-8859-1": lambda share:
        "<meta charset=iso-8859-1><script>a" + times(MARKS, int(60_000 * share)) + "</script>",
    "a handler that submits": lambda share: script("document.forms[0].submit();", share, "function a(){", "}", "a()"),
    "functions without an end": lambda share: script("a=function(){", share),
    "locations": lambda share: script("location=", share),
    "20 forms of 200 radio buttons": radios,
    "a list of selectors": lambda share:
        script("x.submit();x.value=1;", share / 2, "x='" + times("#a,", int(SCRIPT * share / 2)) + "';"),
    "two lists of selectors in turn": lambda share:
        script("x.submit();y.value=1;", share / 2, "x='" + times("#a,.b,", int(SCRIPT * share / 4)) + "';y='"
               + times("#c ", int(SCRIPT * share / 4)) + "';"),
    "rules of a style sheet": lambda share: FORM.format("") + "<style>" + times(".a{display:none}", int(60_000 * share)) + "</style>",
    "links with a handler": lambda share: FORM.format("") + times("<a href=/b onclick='a()'>b</a>", int(LIMIT * share * 0.9)),
    "labels": lambda share: FORM.format("") + times("<label for=user>User</label>", int(LIMIT * share * 0.9)),
    "deep elements": lambda share: FORM.format("") + times("<b>", int(LIMIT * share * 0.9)),
    "prices": lambda share: FORM.format("").replace("<input name", times("5 Euro, ", int(LIMIT * share * 0.9)) + "<input name"),
    "errors": lambda share: FORM.format("") + times("<p class=error>x</p>", int(LIMIT * share * 0.9)),
    "arrows": lambda share: script("x=>", share),
    "timers": lambda share: script("setTimeout('a()',", share),
    "click handlers": lambda share: script("$(document).on('click',e=>{", share),
    "options": lambda share: "<form method=post action=/in><select name=s>" + times("<option>5 Euro", int(LIMIT * share * 0.9))
        + "</select><input type=submit value='Log in'></form>",
    "frames": lambda share: times("<iframe src=/a></iframe>", int(LIMIT * share * 0.9)),
    "attributes": lambda share: times("<p " + " ".join(f"a{number}=1" for number in range(900)) + ">", int(LIMIT * share * 0.9)),
}


def cost(judge: str, folder: pathlib.Path, page: str, rounds: int) -> float:
    """Returns the least processor time of a process that reads the page, in seconds."""
    folder.joinpath("page.html").write_text(page)
    folder.joinpath("case.json").write_text(json.dumps({"url": "http://portal.example/", "expect": {"class": "hand-over"}}))
    spent = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([judge, folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=".build/release")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--against", help="a page-judge of another version, for a column beside")
    options = parser.parse_args()
    judge = os.path.join(options.bin, "page-judge")
    judges = [judge] + ([options.against] if options.against else [])
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        usual = [cost(each, folder, FORM.format(""), options.rounds) for each in judges]
        print(f"{'page':50} {'64 KiB':>9} {'256 KiB':>9} {'growth':>7}" + ("  the other" if options.against else ""))
        for name, page in PAGES.items():
            small, large = (max(0.001, cost(judge, folder, page(share), options.rounds) - usual[0]) for share in (0.25, 1))
            growth = f"{large / small:.1f}" if large > 0.02 else "-"
            line = f"{name:50} {small * 1000:6.0f} ms {large * 1000:6.0f} ms {growth:>7}"
            if options.against:
                line += f" {(cost(options.against, folder, page(1), 1) - usual[1]) * 1000:8.0f} ms"
            print(line, flush=True)


main()
