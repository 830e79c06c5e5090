#!/usr/bin/python3
"""The other side of a handshake and a session, by python3-dissononce: hexadecimal lines in, hexadecimal lines out.

Arguments: pattern (XXpsk0 or IK), role, own secret key, the peer's public key, shared key, prologue; "-" for none. After the handshake it says the
peer's public key. Then each line is a message, which it opens, says, and sends back sealed; "rekey" changes both keys.
"""
import sys

from dissononce.cipher.chachapoly import ChaChaPolyCipher
from dissononce.dh.keypair import KeyPair
from dissononce.dh.x25519.private import PrivateKey
from dissononce.dh.x25519.public import PublicKey
from dissononce.dh.x25519.x25519 import X25519DH
from dissononce.hash.sha256 import SHA256Hash
from dissononce.processing.handshakepatterns.interactive.IK import IKHandshakePattern
from dissononce.processing.handshakepatterns.interactive.XX import XXHandshakePattern
from dissononce.processing.impl.cipherstate import CipherState
from dissononce.processing.impl.handshakestate import HandshakeState
from dissononce.processing.impl.symmetricstate import SymmetricState
from dissononce.processing.modifiers.psk import PSKPatternModifier


def octets(text):
    return None if text == "-" else bytes.fromhex(text)


def say(data):
    print(bytes(data).hex(), flush=True)


def hear():
    return bytes.fromhex(sys.stdin.readline().strip())


def rekey(state):
    # Section 11.3. The library's own keeps 48 octets and counts from zero again.
    state._key = state._cipher.encrypt(state._key, 2**64 - 1, b"", bytes(32))[:32]


pattern, role, own, peer, shared, prologue = sys.argv[1:]
initiates = role == "initiator"
dh = X25519DH()
state = HandshakeState(SymmetricState(CipherState(ChaChaPolyCipher()), SHA256Hash()), dh)
state.initialize(
    PSKPatternModifier(0).modify(XXHandshakePattern()) if pattern == "XXpsk0" else IKHandshakePattern(), initiates, octets(prologue),
    s=dh.generate_keypair(PrivateKey(octets(own))), rs=None if peer == "-" else PublicKey(octets(peer)),
    psks=None if shared == "-" else [octets(shared)])
pair, turn = None, initiates
while pair is None:
    if turn:
        buffer = bytearray()
        pair = state.write_message(b"", buffer)
        say(buffer)
    else:
        pair = state.read_message(hear(), bytearray())
    turn = not turn
sending, receiving = pair if initiates else reversed(pair)
say(state.rs.data)
for line in sys.stdin:
    if line.strip() == "rekey":
        rekey(sending)
        rekey(receiving)
        continue
    plain = receiving.decrypt_with_ad(b"", bytes.fromhex(line.strip()))
    say(plain)
    say(sending.encrypt_with_ad(b"", plain[::-1]))
