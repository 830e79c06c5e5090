"""Parts of portal pages and answers, for the products."""

import html
import json
import urllib.parse

from portal_base import Answer, page

__all__ = ["Answer", "box", "button", "encode", "form", "hidden", "jsonp", "jsonAnswer", "line", "page", "redirect", "refresh", "scripted"]


def encode(**values) -> str:
    return urllib.parse.urlencode({name.rstrip("_"): value for name, value in values.items()})


def redirect(url: str, status: int = 302, phrase: str = "", body: str = "", **headers: str) -> Answer:
    answer = Answer(status, body, Location=url, **headers)
    answer.phrase = phrase or answer.phrase
    return answer


def scripted(url: str, how: str = "window.location") -> Answer:
    """A page whose script leads on."""
    return Answer(200, f"<html><head><script type=\"text/javascript\">{how} = {json.dumps(url)};</script></head><body></body></html>\n")


def refresh(url: str, **headers: str) -> Answer:
    return Answer(200, f'<html><head><meta http-equiv="refresh" content="0; url={html.escape(url)}"></head><body></body></html>\n', **headers)


def jsonAnswer(value, status: int = 200, kind: str = "application/json", **headers: str) -> Answer:
    return Answer(status, json.dumps(value, ensure_ascii=False), kind, **headers)


def jsonp(callback: str, value) -> Answer:
    return Answer(200, f"{callback}({json.dumps(value, ensure_ascii=False)})", "text/javascript;charset=utf-8")


def form(action: str, *parts: str, method: str = "post", **attributes: str) -> str:
    words = "".join(f' {name.rstrip("_")}="{html.escape(value)}"' for name, value in attributes.items())
    return f'<form action="{html.escape(action)}" method="{method}"{words}>\n' + "\n".join(parts) + "\n</form>"


def hidden(**values: str) -> str:
    return "".join(f'<input type="hidden" name="{name}" value="{html.escape(str(value))}">' for name, value in values.items())


def line(name: str, label: str, kind: str = "text") -> str:
    return f'<p><label for="{name}">{label}</label> <input type="{kind}" name="{name}" id="{name}"></p>'


def box(name: str, label: str, value: str = "on") -> str:
    return f'<p><input type="checkbox" name="{name}" id="{name}" value="{value}"> <label for="{name}">{label}</label></p>'


def button(label: str, name: str = "", value: str = "") -> str:
    words = f' name="{name}" value="{html.escape(value or label)}"' if name else ""
    return f'<p><button type="submit"{words}>{label}</button></p>'
