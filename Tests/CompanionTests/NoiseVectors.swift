@testable import Companion

/// The vectors of cacophony (revision of its file in snow 8ac60f5), snow (8ac60f5) and flynn/noise (4d9f71c).
extension NoiseVector {
    static let all = [cacophonySession, snowSession, flynnPairing, flynnPairingWithPayloads, flynnPairingWithPrologue]

    static let cacophonySession = NoiseVector(
        pattern: .session, prologue: "4a6f686e2047616c74",
        statics: (
            "e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1",
            "4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893"
        ),
        ephemerals: (
            "893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a",
            "bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b"
        ),
        sharedKey: nil,
        hash: "0b0f68fb0c27e03ce9b97565995ed4838cc0581b762ef72b062f6a546419fad7",
        messages: [
            (
                "4c756477696720766f6e204d69736573",
                "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944718da798efbcd91528520204f904b9bd6c7413dccdc214d951e15253e39987f18146e8cd0873654207148333479d4d16c289f0294b29960a72f48e0b7bba2e89083169825e59642148d492020664ccf7"
            ),
            (
                "4d757272617920526f746862617264",
                "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f1448088435361e70b2ed446e6c9ec387d1d6b3b840f194e373979d241b203c4acafccf5"
            ),
            (
                "462e20412e20486179656b",
                "050e9f3c8fac16b68dbce8f8c4bfbf6617c897f9ada4aa29aa19c8"
            ),
            (
                "4361726c204d656e676572",
                "344233a6cabb7141d80f3da2fedc311d9646bbb0f505afe403a667"
            ),
            (
                "4a65616e2d426170746973746520536179",
                "62cdeeb172ad7ade7aa7d9e069da5790f12331bfa00177787a1d0810c67dc3b2b4"
            ),
            (
                "457567656e2042f6686d20766f6e2042617765726b",
                "029bead1b40992327044d409d9a1f3ad8f36c3c452775d557e18bbeb2e8dfcead32d514024"
            ),
        ], source: "cacophony")

    static let snowSession = NoiseVector(
        pattern: .session,
        prologue:
            "5468657265206973206e6f20726967687420616e642077726f6e672e2054686572652773206f6e6c792066756e20616e6420626f72696e672e",
        statics: (
            "f49f93c5112c0787acc808d61716d7e090e076a58f15a3f78d92773f8dcb473b",
            "b790546f98b1e933c48cd01f17e7b281469d46fcacc9a3b584ae65b1d6272e8e"
        ),
        ephemerals: (
            "dae68498c41315cff7e4a34dded8d973199d8f0cf3fcb8b6651c169de77de8be",
            "c0875a5b59c8492bd2135e5432d7d484f938e0a1f5009428c4bcb70b2f69f69f"
        ),
        sharedKey: nil,
        hash: nil,
        messages: [
            (
                "95a8f51c435a9530ff1f30868ed7b23ec952eb513c26a0774fed82d2978a8c81",
                "6d21fec9141f3f37cc464e936a48b2d9521b5a44e0f3d960895d3c3fba30282f731f445c25e898e2534ac0536715b24308c108fc46bd260c887b36c3f68e3a05654fc8295c068ed53fb2022560961224e0b10b0835e1efc82fc587cd50f7178fe3d9eb06e0351c6e7334162c10bed670bfa2a105f7b2768a140b3fd597782601"
            ),
            (
                "b866b807a6d8b83182b884dbfedc861843c5082bd6e480cb54e4245a72083041",
                "e64e1fb8701c4f4bc3850b255fea657d4d835338b059c89acc99628fbe52473b41a4e79e3c1e6abc46bf80f078a005e15d8a3e04f989af3e6cb99b52031165006163ac3e17b928af8c116009d7bf4fb2"
            ),
            (
                "e3a4937faef391028f759758b428b57652e0069a8dee64dfed01b60846938740",
                "2bebe19102169cdfe79cf41e38930bfd20a5b2fc78ccf33e853ddd939c0983174656eb27b61464a607762848892ca1c0"
            ),
            (
                "693972f27b0cb98aeac1fb54d782125431e7540e0cb2fa882cf51a8184d724fd",
                "c7c56da33b45d12f4754e17978bd49999c9c8f51d00db460f902aba2e6e245d0c46662f507915de8596f43b1d175f1db"
            ),
        ], source: "snow")

    static let flynnPairing = NoiseVector(
        pattern: .pairing, prologue: "",
        statics: (
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
            "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20"
        ),
        ephemerals: (
            "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f",
            "4142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f60"
        ),
        sharedKey: "2176657279736563726574766572797365637265747665727973656372657421",
        hash: nil,
        messages: [
            (
                "",
                "358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd166254555f63b2499511e3b299a5649351a5b7"
            ),
            (
                "",
                "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d4846622df46c0ac1e0fc71795a84e37cc0e963d131c8e84c02cd5cfcfe8def3fe128b324ab54fd3be59ac143dfdc68996211170078c960e051d6ed971da20bde0fcf1"
            ),
            (
                "",
                "462127adbe047db3d1fce0581b5447d99b606c591545a7719132e0c91fe93d123be3fe89ffd8af56e02cefda863080ecee5651dcecddde76b8237c66740d7c8f"
            ),
            (
                "79656c6c6f777375626d6172696e65",
                "75fff8afebd2f14da1cac9cc5b5201395cdf2ad65f3a97804e360c16f4e2ac"
            ),
            (
                "7375626d6172696e6579656c6c6f77",
                "150cc85f79f9ca0f0730b8b4707805ed1969ff6b2770a5d466cd2754802805"
            ),
        ], source: "flynn/noise")

    static let flynnPairingWithPayloads = NoiseVector(
        pattern: .pairing, prologue: "",
        statics: (
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
            "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20"
        ),
        ephemerals: (
            "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f",
            "4142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f60"
        ),
        sharedKey: "2176657279736563726574766572797365637265747665727973656372657421",
        hash: nil,
        messages: [
            (
                "746573745f6d73675f30",
                "358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd1662547f533cf20723ac4407c8e51516d7c7382d8aa777424dba78813d"
            ),
            (
                "746573745f6d73675f31",
                "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d4846622df46c0ac1e0fc71795a84e37cc0e963d131c8e84c02cd5cfcfe8def3fe128b1146c1820dc4d08bf16b5c682badf2ef2dc6c1642ae7e8ae8c8e1e38a06064341a604c21b70227181c04"
            ),
            (
                "746573745f6d73675f32",
                "462127adbe047db3d1fce0581b5447d99b606c591545a7719132e0c91fe93d122132c2cde2bc69209884f77756f265744111b0bfa4fdeb4704a42c7f8750279908327b545416cf81f828"
            ),
            (
                "79656c6c6f777375626d6172696e65",
                "75fff8afebd2f14da1cac9cc5b5201395cdf2ad65f3a97804e360c16f4e2ac"
            ),
            (
                "7375626d6172696e6579656c6c6f77",
                "150cc85f79f9ca0f0730b8b4707805ed1969ff6b2770a5d466cd2754802805"
            ),
        ], source: "flynn/noise")

    static let flynnPairingWithPrologue = NoiseVector(
        pattern: .pairing, prologue: "6e6f74736563726574",
        statics: (
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
            "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20"
        ),
        ephemerals: (
            "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f",
            "4142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f60"
        ),
        sharedKey: "2176657279736563726574766572797365637265747665727973656372657421",
        hash: nil,
        messages: [
            (
                "",
                "358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd16625454a218352d64c1f8c239416ccb542aec"
            ),
            (
                "",
                "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d4846622df46c0ac1e0fc71795a84e37cc0e963d131c8e84c02cd5cfcfe8def3fe128b58733b0ab529b3f48ed3fbe90840f1a27404f52be696831ccb795d1bdee31d33"
            ),
            (
                "",
                "462127adbe047db3d1fce0581b5447d99b606c591545a7719132e0c91fe93d12fb91ca67cf72f381bab072bd9e6efef157067416654408489b43ba2fb6173b66"
            ),
            (
                "79656c6c6f777375626d6172696e65",
                "75fff8afebd2f14da1cac9cc5b5201395cdf2ad65f3a97804e360c16f4e2ac"
            ),
            (
                "7375626d6172696e6579656c6c6f77",
                "150cc85f79f9ca0f0730b8b4707805ed1969ff6b2770a5d466cd2754802805"
            ),
        ], source: "flynn/noise")
}
