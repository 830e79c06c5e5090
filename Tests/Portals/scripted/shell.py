"""The shell of a portal that only a script can use: a page without a form, the script that builds one, and the strict server behind it."""

import html
import json
import secrets

from lab import CLIENT_MAC, Product
from pages import Answer, encode, jsonAnswer, redirect

__all__ = ["Answer", "MD5", "RUNTIME", "SHA256", "Scripted", "bad", "document", "encode", "jsonAnswer", "redirect", "refuse"]

# Each bundle begins with it: h() makes an element, send() posts JSON as the portal's own pages do.
RUNTIME = r"""const h = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter(child => child != null && child !== false));
  return node;
};
const $ = selector => document.querySelector(selector);
const show = (...nodes) => $("#root, #app").replaceChildren(...nodes.flat().filter(node => node));
const load = url => fetch(url, {headers: {"X-Requested-With": "XMLHttpRequest"}}).then(answer => answer.json());
const send = (url, value, headers = {}) => fetch(url, {
  method: "POST", body: JSON.stringify(value),
  headers: {"Content-Type": "application/json", "X-Requested-With": "XMLHttpRequest", ...headers},
}).then(answer => answer.json());
"""

STYLE = """body { margin: 0; font: 16px sans-serif; background: #eef1f4; } #root, #app { max-width: 26rem; margin: 2rem auto; padding: 1.5rem;
background: #fff; border-radius: 12px; } input, select { display: block; width: 90%; padding: .6rem; margin: .3rem 0 1rem; font-size: 1rem; }
input[type=checkbox] { display: inline; width: auto; } button, [role=button] { display: inline-block; padding: .7rem 1.4rem; border: 0;
border-radius: 8px; background: #0a5; color: #fff; font-size: 1rem; cursor: pointer; } button:disabled { background: #999; }
[role=alert] { color: #b00; }"""

SHA256 = r"""const sha256 = text => {
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every(prime => n % prime)) primes.push(n);
  const part = (n, power) => (Math.pow(n, power) * 4294967296) | 0;
  const k = primes.map(n => part(n, 1 / 3)), state = primes.slice(0, 8).map(n => part(n, 1 / 2));
  const octets = [...new TextEncoder().encode(text)], bits = octets.length * 8;
  octets.push(128);
  while (octets.length % 64 !== 56) octets.push(0);
  for (let i = 7; i >= 0; i--) octets.push(i > 3 ? 0 : (bits >>> (8 * i)) & 255);
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  for (let at = 0; at < octets.length; at += 64) {
    const w = [];
    for (let i = 0; i < 64; i++) w[i] = i < 16
      ? (octets[at + 4 * i] << 24) | (octets[at + 4 * i + 1] << 16) | (octets[at + 4 * i + 2] << 8) | octets[at + 4 * i + 3]
      : (w[i - 16] + w[i - 7] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3))
        + (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10))) | 0;
    let [a, b, c, d, e, f, g, last] = state;
    for (let i = 0; i < 64; i++) {
      const one = (last + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [last, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, last].forEach((value, i) => { state[i] = (state[i] + value) | 0; });
  }
  return state.map(word => (word >>> 0).toString(16).padStart(8, "0")).join("");
};
"""

MD5 = r"""const md5 = octets => {
  const message = [...octets], bits = message.length * 8, state = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476];
  const turns = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
  message.push(128);
  while (message.length % 64 !== 56) message.push(0);
  for (let i = 0; i < 8; i++) message.push(i < 4 ? (bits >>> (8 * i)) & 255 : 0);
  for (let at = 0; at < message.length; at += 64) {
    const word = i => message[at + 4 * i] | (message[at + 4 * i + 1] << 8) | (message[at + 4 * i + 2] << 16) | (message[at + 4 * i + 3] << 24);
    let [a, b, c, d] = state;
    for (let i = 0; i < 64; i++) {
      const round = i >> 4, f = [(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)][round];
      const g = [i, 5 * i + 1, 3 * i + 5, 7 * i][round] % 16, n = turns[4 * round + i % 4];
      const sum = (a + f + Math.floor(Math.abs(Math.sin(i + 1)) * 4294967296) + word(g)) | 0;
      [a, d, c, b] = [d, c, b, (b + ((sum << n) | (sum >>> (32 - n)))) | 0];
    }
    [a, b, c, d].forEach((value, i) => { state[i] = (state[i] + value) | 0; });
  }
  return state.map(value => [0, 8, 16, 24].map(n => ((value >>> n) & 255).toString(16).padStart(2, "0")).join("")).join("");
};
"""


class Scripted(Product):
    """One portal. Its `script` builds the login in #root; `api` answers what the script asks, and nothing else."""

    host, path, lang, title = "", "/", "en", "Guest Wi-Fi"
    bundle = "/static/js/main.4f1c9a2e.js"
    body = '<noscript>You need to enable JavaScript to run this app.</noscript>\n<div id="root"></div>'
    style, script = "", ""

    def begin(self):
        self.session, self.csrf = secrets.token_hex(16), secrets.token_hex(16)

    def intercept(self, request):
        return redirect(f"http://{self.host}{self.path}?" + encode(mac=CLIENT_MAC, url=request.url))

    def answer(self, request):
        if request.host != self.host:
            return Answer(404)
        if request.path == self.path and request.method == "GET":
            return self.shell()
        if request.path == self.bundle.split("?")[0]:
            return Answer(200, RUNTIME + self.script, "text/javascript; charset=utf-8")
        return self.api(request)

    def shell(self):
        return document(self.title, self.body, self.bundle, self.lang, self.style, Set_Cookie=f"sid={self.session}; Path=/; HttpOnly")

    def api(self, request):
        return Answer(404)

    def asks(self, request) -> bool:
        """A request of the page's own script, in the session that the page began."""
        return request.headers.get("X-Requested-With") == "XMLHttpRequest" and request.cookie("sid") == self.session

    def sends(self, request, csrf: bool = False) -> bool:
        """A POST of the page's own script: JSON from its own origin, with the token from the settings if the portal has one."""
        own = request.method == "POST" and request.headers.get("Origin") == f"{'https' if request.secure else 'http'}://{request.host}"
        token = request.headers.get("X-CSRF-Token") == self.csrf
        return own and self.asks(request) and bool(request.json()) and (token or not csrf)

    def welcome(self, **values):
        self.admit()
        return jsonAnswer({"ok": True} | values)


def document(title: str, body: str, bundle: str, lang: str = "en", style: str = "", **headers: str) -> Answer:
    text = f"""<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title><style>{STYLE}{style}</style><script defer src="{bundle}"></script></head>
<body>
{body}
</body></html>
"""
    return Answer(200, text, Cache_Control="no-store", **headers)


def refuse(text: str, status: int = 422) -> Answer:
    return jsonAnswer({"ok": False, "error": text}, status)


def bad() -> Answer:
    """The answer to a request that the page's script does not send."""
    return jsonAnswer({"ok": False, "error": "Bad request"}, 400)
