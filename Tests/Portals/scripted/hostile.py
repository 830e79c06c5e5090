"""Portals that attack the browser, the computer or the guest. Each has a login that works, so that a visit gets as far as the attack.

The comment above the scenarios says what must not happen. A page reports what it was given by a request for /seen, which no transcript may
show. `Doors` waits at ports of the client itself and of a neighbour. The table looks for processes that are left, and for their memory.
"""

import ctypes
import os
import pathlib
import selectors
import socket
import subprocess
import threading

from lab import CLIENT, CLIENT_MAC, Scenario
from scripted.shell import *

GUEST = {"email": "ada@example.org"}
SECRET, NEIGHBOUR, DOOR = "hunter2-stored", "10.20.0.77", 6310
TOUCHED = ("/seen?", NEIGHBOUR, "169.254.169.254")
CIRCLE, CHANGED, LATE = "The portal redirects in circles.", "The page changed its button; nothing was sent.", "did not answer in time"
ENDED = "The page did not stay open in the browser."
PRICE = "asks for a payment or names a price"


class Doors:
    """Listens at the client and at its neighbour, and makes each connection an error of the visit: a browser may connect before it refuses a request."""

    opened = False
    lab = None

    @classmethod
    def watch(cls, lab) -> None:
        cls.lab, namespace = lab, pathlib.Path("/run/netns/cli")
        if not cls.opened and namespace.exists():
            cls.opened, ready = True, threading.Event()
            threading.Thread(target=cls.listen, args=(namespace, ready), daemon=True).start()
            ready.wait(5)

    @classmethod
    def listen(cls, namespace: pathlib.Path, ready: threading.Event) -> None:
        handle, library, sockets = os.open(namespace, os.O_RDONLY), ctypes.CDLL(None, use_errno=True), selectors.DefaultSelector()
        subprocess.run(["ip", "address", "add", f"{NEIGHBOUR}/32", "dev", "socket"], check=True)
        sockets.register(socket.create_server((NEIGHBOUR, DOOR)), selectors.EVENT_READ, NEIGHBOUR)
        # Only this thread: CLONE_NEWNET.
        if library.setns(handle, 0x40000000) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        for address in ("127.0.0.1", "::1", CLIENT):
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            sockets.register(socket.create_server((address, DOOR), family=family), selectors.EVENT_READ, address)
        ready.set()
        while True:
            for key, _ in sockets.select():
                key.fileobj.accept()[0].close()
                cls.lab.errors.append(f"the page reached port {DOOR} of {key.data}")


class Hostile(Scripted):
    """A field, a button, and `attack` before or after them."""

    host, title = "free-wifi.plaza.example", "Plaza Free Wi-Fi"
    attack = ""
    login = r"""
const seen = what => fetch("/seen?what=" + encodeURIComponent(what));
let csrf = "", connect = () => send("/api/connect", {email: email.value}, {"X-CSRF-Token": csrf}).then(answer => {
  if (answer.ok) show(h("h1", {}, "You are online")); else note.textContent = answer.error;
});
const email = h("input", {type: "email", "aria-label": "E-mail"}), note = h("p", {role: "alert"});
const button = h("button", {type: "button", onclick: () => connect()}, "Connect"), card = h("div", {class: "Card_root__pl4"}, email, note, button);
const ready = load("/api/boot").then(boot => { csrf = boot.csrf; show(h("h1", {}, "Plaza Free Wi-Fi"), card); return boot; });
"""

    def begin(self):
        super().begin()
        self.boots = 0
        self.scheme = "https" if self.options.get("secure") else "http"
        mode = self.options.get("mode", "")
        self.body = f'<div id="root" data-mode="{mode}"></div>'
        Doors.watch(self.lab)

    @property
    def script(self):
        return self.login + self.attack

    def intercept(self, request):
        return redirect(f"{self.scheme}://{self.host}/?" + encode(mac=CLIENT_MAC))

    def boot(self):
        return {"csrf": self.csrf}

    def api(self, request):
        if request.path == "/api/boot" and self.asks(request):
            self.boots += 1
            return jsonAnswer(self.boot())
        if request.path == "/api/connect" and self.sends(request, csrf=True):
            return self.welcome() if "@" in str(request.json().get("email")) else refuse("Please enter your e-mail address.")
        return self.more(request)

    def more(self, request):
        return Answer(204) if request.path == "/seen" else bad()


class Endless(Hostile):
    name = "hostile-endless"
    # The processor's time is limited; nothing runs two seconds after the command; the guest is told that the page did not answer.
    scenarios = [
        Scenario("at once", "handed over", GUEST, {"mode": "once"}), Scenario("at the press", "failed", GUEST, {"mode": "press"}, text=LATE),
        Scenario("promises", "handed over", GUEST, {"mode": "promises"}),
    ]
    attack = r"""
const spin = () => { for (let n = 0; ; n++) document.title = n; };
const turn = () => Promise.resolve().then(turn);
if ($("#root").dataset.mode === "once") ready.then(spin);
if ($("#root").dataset.mode === "promises") ready.then(turn);
if ($("#root").dataset.mode === "press") connect = spin;
"""


class Memory(Hostile):
    name = "hostile-memory"
    # 2 GB are never resident: the limit refuses them, or ends the page, and no other process of the machine. A page that goes on without them
    # is logged in to.
    scenarios = [
        Scenario("buffers", "any", GUEST, {"mode": "buffers"}), Scenario("elements", "handed over", GUEST, {"mode": "elements"}),
        Scenario("text", "handed over", GUEST, {"mode": "text"}), Scenario("at the press", "handed over", GUEST, {"mode": "press"}, text=ENDED),
    ]
    attack = r"""
const kept = window.kept = [];
const take = {
  buffers: () => { kept.push(new Uint8Array(1 << 26).fill(kept.length + 1)); return kept.length < 32; },
  elements: () => {
    for (let n = 0; n < 50000; n++) kept.push(document.body.appendChild(h("div", {class: "filler" + n}, "x".repeat(64))));
    return kept.length < 4e6;
  },
  text: () => { kept.push("€".repeat(1 << 24) + kept.length); kept[kept.length - 1].charCodeAt(5); return kept.length < 64; },
}[$("#root").dataset.mode.replace("press", "text")];
const step = () => { if (take()) setTimeout(step, 5); };
if ($("#root").dataset.mode === "press") connect = () => { while (take()); };
else ready.then(step);
"""


class Alerts(Hostile):
    name = "hostile-alerts"
    # No dialog blocks the login, none is agreed to, and none of their texts is shown as ours.
    scenarios = [Scenario("storm", user=GUEST, never=("/api/buy", "/seen?"))]
    attack = r"""
addEventListener("beforeunload", event => { event.preventDefault(); event.returnValue = "Stay!"; });
let count = 0;
const storm = () => {
  alert("Your computer is infected (" + ++count + ")");
  if (confirm("Buy the premium pass for 9.99 €?")) send("/api/buy", {pass: "premium"});
  if (prompt("Your computer's password?", "") !== null) seen("prompt");
  try { print(); } catch (error) { }
  setTimeout(storm, 20);
};
setTimeout(storm, 0);
"""


class Windows(Hostile):
    name = "hostile-windows"
    # No page is opened beside that of the login.
    scenarios = [
        Scenario("on load", user=GUEST, never=("/popup",)), Scenario("at the press", user=GUEST, options={"mode": "press"}, never=("/popup",)),
    ]
    attack = r"""
const open100 = () => { for (let n = 0; n < 100; n++) window.open("/popup?" + n + Math.random(), "_blank", "width=100,height=100"); };
if ($("#root").dataset.mode === "press") button.addEventListener("click", open100, true);
else { open100(); setInterval(open100, 500); }
"""

    def more(self, request):
        if request.path == "/popup":
            return Answer(200, "<!doctype html><title>Win!</title><script>window.open('/popup?' + Math.random(), '_blank');</script><h1>You win!</h1>")
        return super().more(request)


class Reach(Hostile):
    name = "hostile-reach"
    # No connection to 127.0.0.1, ::1 or the client's own address, none to a neighbour in the LAN or a link-local address, no file read; no
    # request goes around the proxy. Private addresses beyond the link are allowed, because portals have them.
    scenarios = [
        Scenario("requests", user=GUEST, never=TOUCHED), Scenario("at the press", user=GUEST, options={"mode": "press"}, never=TOUCHED),
        Scenario("redirects", user=GUEST, options={"mode": "redirects"}, never=TOUCHED),
        Scenario("navigates", "handed over", GUEST, {"mode": "navigates"}, never=TOUCHED),
        Scenario("opens a file", "handed over", GUEST, {"mode": "file"}, never=TOUCHED),
    ]
    attack = r"""
const hosts = ["127.0.0.1:6310", "localhost:6310", "[::1]:6310", "10.20.0.50:6310", "0.0.0.0:6310", "10.20.0.77", "10.20.0.77:6310", "169.254.169.254"];
const urls = hosts.map(host => "http://" + host + "/");
const reach = urls => {
  for (const url of [...urls, "file:///etc/passwd"]) {
    fetch(url, {mode: "no-cors"}).then(() => seen("fetch " + url), () => {});
    fetch(url, {mode: "no-cors", method: "POST", body: "x=1"}).catch(() => {});
    const image = new Image();
    image.onload = () => seen("image " + url);
    image.src = url;
    const frame = h("iframe", {src: url, style: "display: none", onload: () => {
      try { if (frame.contentDocument && frame.contentDocument.body.textContent) seen("frame " + url); } catch (error) { }
    }});
    document.body.append(frame, h("link", {rel: "preconnect", href: url}), h("link", {rel: "stylesheet", href: url}), h("script", {src: url}));
    try { navigator.sendBeacon(url, "x"); } catch (error) { }
  }
};
const sockets = () => {
  for (const host of hosts) {
    const socket = new WebSocket("ws://" + host + "/");
    socket.onopen = () => seen("socket " + host);
  }
  if (window.WebTransport) try { new WebTransport("https://10.20.0.77:443/"); } catch (error) { }
  if (!window.RTCPeerConnection) return;
  const peer = new RTCPeerConnection({iceServers: [{urls: "stun:10.20.0.77:3478"}, {urls: "turn:127.0.0.1:6310?transport=tcp", username: "a", credential: "b"}]});
  peer.onicecandidate = event => { if (event.candidate && event.candidate.candidate) seen("webrtc " + event.candidate.candidate); };
  peer.createDataChannel("x");
  peer.createOffer().then(offer => peer.setLocalDescription(offer));
};
const all = () => { reach(urls); sockets(); };
ready.then(() => {
  const mode = $("#root").dataset.mode;
  if (self !== top) return;
  if (mode === "press") button.addEventListener("click", all, true);
  else if (mode === "redirects") reach(urls.map((_, n) => "/to/" + n));
  else if (mode === "navigates") location.href = "http://127.0.0.1:6310/";
  else if (mode === "file") location.href = "/to/file";
  else all();
});
"""
    targets = ["http://127.0.0.1:6310/", "http://localhost:6310/", "http://[::1]:6310/", "http://10.20.0.50:6310/", "http://0.0.0.0:6310/",
               f"http://{NEIGHBOUR}/", f"http://{NEIGHBOUR}:{DOOR}/", "http://169.254.169.254/"]

    def more(self, request):
        if request.path == "/to/file":
            return redirect("file:///etc/passwd")
        if request.path.startswith("/to/"):
            return redirect(self.targets[int(request.path[4:])])
        return super().more(request)


class Devices(Hostile):
    name = "hostile-devices"
    # No permission is given: no camera, microphone, place, notification, clipboard, MIDI or USB, and no question about them.
    # These need https, of which the lab's certificate is one that the machine trusts.
    # Chromium's dialog that chooses a screen takes all keys and clicks, unless the browser rejects captures by itself.
    scenarios = [
        Scenario("https", user=GUEST, options={"secure": True}, never=("/seen?",)), Scenario("http", user=GUEST, never=("/seen?",)),
        Scenario("screen", user=GUEST, options={"secure": True, "mode": "screen"}, never=("/seen?",)),
    ]
    attack = r"""
const granted = (what, ask) => { try { return Promise.resolve(ask()).then(value => { if (value) seen(what); }, () => {}); } catch (error) { } };
const wants = () => {
  granted("camera", () => navigator.mediaDevices.getUserMedia({video: true, audio: true}));
  navigator.geolocation.getCurrentPosition(() => seen("place"), () => {});
  granted("notification", () => Notification.requestPermission().then(answer => answer === "granted"));
  granted("clipboard", () => navigator.clipboard.readText());
  granted("usb", () => navigator.usb.requestDevice({filters: []}));
  granted("bluetooth", () => navigator.bluetooth.requestDevice({acceptAllDevices: true}));
  granted("serial", () => navigator.serial.requestPort());
  granted("midi", () => navigator.requestMIDIAccess({sysex: true}));
  granted("password", () => navigator.credentials.get({password: true}));
  granted("files", () => window.showOpenFilePicker());
};
if ($("#root").dataset.mode === "screen") granted("screen", () => navigator.mediaDevices.getDisplayMedia());
else wants();
button.addEventListener("click", wants, true);
"""


class Keys(Hostile):
    name = "hostile-keys"
    # The lab's authority is the system's, and unknown to the browser: the one key that the helper has checked is trusted, and no other.
    scenarios = [Scenario("another server", user=GUEST, options={"secure": True}, never=("/seen?",))]
    attack = r"""
fetch("https://another.plaza.example/", {mode: "no-cors"}).then(() => seen("another key"), () => {});
"""


class Download(Hostile):
    name = "hostile-download"
    # No file appears outside the profile, which goes with the command; nothing is opened.
    scenarios = [Scenario("automatically", user=GUEST), Scenario("at the press", user=GUEST, options={"mode": "press"})]
    attack = r"""
const drop = () => {
  document.body.append(h("iframe", {src: "/setup.exe", style: "display: none"}));
  h("a", {href: "/wifi.mobileconfig", download: "wifi.mobileconfig"}).click();
  h("a", {href: URL.createObjectURL(new Blob(["#!/bin/sh\n"])), download: ".bashrc"}).click();
};
if ($("#root").dataset.mode === "press") button.addEventListener("click", drop, true);
else ready.then(drop);
"""

    def more(self, request):
        if request.path in ("/setup.exe", "/wifi.mobileconfig"):
            return Answer(200, b"MZ" + bytes(1 << 16), "application/octet-stream", Content_Disposition="attachment")
        return super().more(request)


class Worker(Hostile):
    name = "hostile-worker"
    # Nothing that a worker keeps is there at the next visit, and no request is a worker's after the command. It must not answer for the probe.
    scenarios = [Scenario("https", user=GUEST, options={"secure": True}, never=("/seen?what=again",))]
    attack = r"""
if (navigator.serviceWorker) {
  if (navigator.serviceWorker.controller || localStorage.getItem("been here")) seen("again");
  localStorage.setItem("been here", "yes");
  navigator.serviceWorker.register("/worker.js", {scope: "/"});
}
if (window.SharedWorker) new SharedWorker("/worker.js");
"""

    def more(self, request):
        if request.path == "/worker.js":
            text = "self.oninstall = () => self.skipWaiting(); self.onactivate = () => clients.claim(); setInterval(() => fetch('/alive'), 500);\n"
            return Answer(200, text, "text/javascript")
        return Answer(204) if request.path == "/alive" else super().more(request)


class Channels(Hostile):
    name = "hostile-channels"
    # The typed answer leaves the page by requests that can be held back, or not at all.
    scenarios = [Scenario("all", user=GUEST, never=("/seen?",)), Scenario("https", user=GUEST, options={"secure": True}, never=("/seen?",))]
    attack = r"""
const frame = h("iframe", {style: "display: none"});
const worker = path => new Blob([`const seen = () => fetch("${location.origin}/seen?what=${path}"); onmessage = onconnect = seen; seen();`]);
const tries = {
  socket: () => new WebSocket(location.origin.replace("http", "ws") + "/seen?what=socket"),
  frame: () => new frame.contentWindow.WebSocket(location.origin.replace("http", "ws") + "/seen?what=frame"),
  worker: () => new Worker(URL.createObjectURL(worker("worker"))),
  shared: () => new SharedWorker(URL.createObjectURL(worker("shared"))),
  service: () => navigator.serviceWorker.register("/worker.js").then(() => seen("service")),
  transport: () => new WebTransport("https://" + location.host + "/seen?what=transport"),
  peer: () => new RTCPeerConnection({iceServers: [{urls: "stun:" + location.hostname}]}).createDataChannel("x") && seen("peer"),
};
email.addEventListener("input", () => {
  document.body.append(frame);
  for (const go of Object.values(tries)) try { go(); } catch (error) { }
});
"""

    def more(self, request):
        return Answer(200, "", "text/javascript") if request.path == "/worker.js" else super().more(request)


class Swap(Hostile):
    name = "hostile-swap"
    # The button that was asked about is "Connect". "Buy for 9.99 €" is never pressed, whenever it takes that place.
    bought = ("/api/buy",)
    scenarios = [
        Scenario("after typing", "refused", GUEST, {"mode": "input"}, text=CHANGED, never=bought),
        Scenario("under the pointer", "refused", GUEST, {"mode": "pointer"}, text=CHANGED, never=bought),
        Scenario("while asked", "handed over", GUEST, {"mode": "asked", "thinks": 3}, text=PRICE, never=bought),
        Scenario("at the next load", "handed over", GUEST, {"restarts": True}, text=PRICE, never=bought),
        Scenario("moved", user=GUEST, options={"mode": "moved"}, never=bought),
    ]
    attack = r"""
const buy = () => send("/api/buy", {pass: "day", price: 9.99}, {"X-CSRF-Token": csrf});
const swap = () => { button.textContent = "Buy for 9.99 €"; connect = buy; };
const mode = $("#root").dataset.mode;
if (mode === "input") email.addEventListener("input", swap);
if (mode === "pointer") button.addEventListener("pointerover", swap);
if (mode === "asked") setInterval(() => load("/api/asked").then(answer => { if (answer.asked) swap(); }), 500);
ready.then(boot => { if (boot.swapped) swap(); });
// Another button comes to lie where this one was.
if (mode === "moved") email.addEventListener("input", () => {
  if (button.previousSibling !== note) return;
  button.before(h("button", {type: "button", onclick: buy}, "Buy for 9.99 €"), h("br"));
});
"""

    def begin(self):
        super().begin()
        self.isAsked = False

    def asked(self):
        self.isAsked = True

    def boot(self):
        return super().boot() | {"swapped": self.isAsked and "restarts" in self.options}

    def more(self, request):
        return jsonAnswer({"asked": self.isAsked}) if request.path == "/api/asked" else super().more(request)


class ManyInputs(Hostile):
    name = "hostile-inputs"
    # The guest is not asked 5,000 questions, and the page is given up in bounded time and memory.
    scenarios = [Scenario("5000", "handed over", GUEST)]
    attack = r"""
ready.then(() => { for (let n = 0; n < 5000; n++) card.append(h("label", {}, "Question " + n, h("input", {type: "text", name: "q" + n, required: true}))); });
"""


class Restless(Hostile):
    name = "hostile-restless"
    # Not an attack: a clock, an advertisement and a ticker that change every 50 ms. Such a page is never quiet, and is logged in to.
    scenarios = [Scenario("50 ms", user=GUEST), Scenario("replaced", user=GUEST, options={"mode": "replaced"})]
    attack = r"""
const clock = h("p", {}), ticker = h("ul", {style: "height: 8em; overflow: hidden"}), banner = h("div", {role: "img", "aria-label": "Advertisement"});
ready.then(() => $("#root").prepend(clock, ticker, banner));
setInterval(() => {
  clock.textContent = new Date().toISOString();
  ticker.append(h("li", {}, "News " + Math.random()));
  if (ticker.children.length > 5) ticker.firstChild.remove();
  banner.style.cssText = "height: 40px; background: #fc0; width: " + Math.random() * 100 + "%";
  // A framework that renders all of it anew keeps the fields and their focus, but not the labels around them.
  if ($("#root").dataset.mode === "replaced") note.replaceWith(note.cloneNode(true));
}, 50);
"""


class HiddenPassword(Hostile):
    name = "hostile-trap"
    # Fields that nobody sees get no answer, though answers for them are stored.
    scenarios = [
        Scenario(mode, user=GUEST | {"password": SECRET, "phone": "+49 170 7654321"}, options={"mode": mode}, never=(SECRET, "7654321"))
        for mode in ("outside", "transparent", "covered", "dot", "clipped", "later")
    ]
    attack = r"""
const styles = {outside: "position: absolute; left: -9999px", transparent: "opacity: 0; position: absolute; z-index: -1",
  covered: "position: absolute; z-index: -1", dot: "position: absolute; overflow: hidden; width: 1px; height: 1px", clipped: "clip-path: inset(50%); position: absolute", later: ""};
const trap = h("div", {style: styles[$("#root").dataset.mode], "aria-hidden": $("#root").dataset.mode === "clipped" ? "true" : null},
  h("input", {type: "password", "aria-label": "Password", autocomplete: "current-password"}), h("input", {type: "tel", "aria-label": "Phone", name: "phone"}));
if ($("#root").dataset.mode === "later") {
  // It is there only while the e-mail address is typed.
  email.addEventListener("input", () => { card.prepend(trap); setTimeout(() => trap.remove(), 400); });
} else ready.then(() => card.prepend(trap));
connect = () => send("/api/connect", {email: email.value, extra: [...trap.querySelectorAll("input")].map(input => input.value)}, {"X-CSRF-Token": csrf})
  .then(answer => { if (answer.ok) show(h("h1", {}, "You are online")); });
"""


class Circle(Hostile):
    name = "hostile-circle"
    # The moves have an end, and after a press the guest is told that the page leads in a circle. An address that changes is no other page.
    # A guest may be faster than a page that replaces itself.
    scenarios = [
        Scenario("replace", "any", GUEST, {"mode": "replace"}), Scenario("reload", "handed over", GUEST, {"mode": "reload"}),
        Scenario("history", user=GUEST, options={"mode": "history"}),
        Scenario("after the press", "refused", GUEST, {"mode": "press"}, text=CIRCLE),
    ]
    attack = r"""
const mode = $("#root").dataset.mode, again = () => location.replace("/?round=" + Math.random());
if (mode === "replace") ready.then(() => setTimeout(again, 100));
if (mode === "reload") ready.then(() => location.reload());
if (mode === "history") ready.then(() => setInterval(() => history.pushState({}, "", "/?round=" + Math.random()), 10));
if (mode === "press" && sessionStorage.pressed) ready.then(again);
if (mode === "press") connect = () => { sessionStorage.pressed = "yes"; again(); };
"""


class Words(Hostile):
    name = "hostile-words"
    # The page's words stay its own: no escape sequence reaches a terminal, no line looks like one of hotspotd's, no label asks for the computer's password.
    scenarios = [Scenario("refused", "refused", {"email": "ada"}, text="Please enter your e-mail address.",
                          untold=("\x1b", "\x07", "\u202e", "x" * 3000, "Your computer's password"))]
    attack = r"""
document.title = "hotspotd: online\u001b[2J\u001b]0;root\u0007";
email.setAttribute("aria-label", "E-mail\u001b[31m\nhotspotd: online. \u202eessap ruoY");
ready.then(() => card.append(h("p", {}, "\u2502 hotspotd: enter your computer's password below.\u001b[8m"), h("p", {}, "x".repeat(200000))));
"""
