"""The Internet side of the café: the probe's 204 over HTTP and HTTPS, and a page that proves that the client came through."""

import networks
from portal_base import Answer, Request, Server, Transcript, arguments, page, serve

GREETING = "You reached the Internet side of the café."


def answer(request: Request) -> Answer:
    if request.headers.get("Host") == networks.USUAL_ADDRESS and not request.secure:
        return Answer(301, Location=f"https://{networks.USUAL_ADDRESS}/")
    if request.path == "/generate_204":
        return Answer(204)
    return page("Hello", f"<p>{GREETING}</p>") if request.path == "/" else Answer(404, "<p>Nothing here.</p>")


if __name__ == "__main__":
    options = arguments()
    transcript = Transcript(options.transcript, "internet")
    tls = (options.certificate, options.key)
    serve([Server(80, answer, transcript), Server(443, answer, transcript, tls)], options.ready)
