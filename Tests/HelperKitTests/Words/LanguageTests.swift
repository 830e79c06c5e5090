import HotspotCore
import Testing

@testable import HelperKit
@testable import PageLogin
@testable import PortalPages

/// A small login page in each language: the button, the terms, an error and the success are recognised.
@Suite struct LanguageTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        var language: String
        var user: String
        var code: String
        var terms: String
        var button: String
        var error: String
        var success: String
        var logout: String
        var advertising: String
        var payment: String
        var testDescription: String { language }
    }

    static let samples = [
        Sample(
            language: "English", user: "Name", code: "Voucher", terms: "I have read the terms", button: "Go online",
            error: "This voucher is not valid.", success: "You are connected.", logout: "Log out", advertising: "Send me offers",
            payment: "Pay now"),
        Sample(
            language: "German", user: "Zimmer", code: "Gutschein", terms: "Ich stimme den Nutzungsbedingungen zu",
            button: "Verbinden",
            error: "Der Gutschein ist nicht gültig.", success: "Sie sind jetzt online.", logout: "Abmelden",
            advertising: "Ich möchte Werbung", payment: "Jetzt bezahlen"),
        Sample(
            language: "French", user: "Nom", code: "Code d'accès", terms: "J’accepte les conditions", button: "Se connecter",
            error: "Ce code a expiré.", success: "Vous êtes maintenant connecté", logout: "Déconnexion",
            advertising: "Recevoir des informations", payment: "Payer"),
        Sample(
            language: "Spanish", user: "Nombre", code: "Cupón", terms: "Acepto las condiciones", button: "Conectarse",
            error: "El código no es válido", success: "Ya estás conectado", logout: "Cerrar sesión",
            advertising: "Quiero recibir ofertas", payment: "Pagar"),
        Sample(
            language: "Italian", user: "Nome", code: "Codice", terms: "Accetto i termini", button: "Naviga",
            error: "Codice errato",
            success: "Sei connesso a Internet", logout: "Disconnetti", advertising: "Pubblicità", payment: "Acquista"),
        Sample(
            language: "Portuguese", user: "Nome", code: "Código", terms: "Concordo com os termos", button: "Conectar",
            error: "Código inválido", success: "Conectado com sucesso", logout: "Terminar sessão",
            advertising: "Quero receber novidades", payment: "Pagar"),
        Sample(
            language: "Dutch", user: "Naam", code: "Toegangscode", terms: "Ik ga akkoord met de voorwaarden", button: "Doorgaan",
            error: "De code is ongeldig", success: "U bent nu verbonden", logout: "Uitloggen", advertising: "Nieuwsbrief",
            payment: "Afrekenen"),
        Sample(
            language: "Polish", user: "Imię", code: "Kod dostępu", terms: "Akceptuję regulamin", button: "Połącz",
            error: "Nieprawidłowy kod", success: "Zalogowano pomyślnie", logout: "Wyloguj", advertising: "Zgoda na reklamy",
            payment: "Zapłać"),
        Sample(
            language: "Russian", user: "Имя", code: "Код", terms: "Я согласен с условиями", button: "Войти в Интернет",
            error: "Неверный код", success: "Вы успешно подключены", logout: "Выйти", advertising: "Получать рассылку",
            payment: "Оплатить"),
        Sample(
            language: "Turkish", user: "Ad", code: "Kupon kodu", terms: "Kullanım koşullarını kabul ediyorum", button: "Bağlan",
            error: "Geçersiz kod", success: "İnternete bağlandınız", logout: "Çıkış", advertising: "Bülten", payment: "Satın al"),
        Sample(
            language: "Persian", user: "نام", code: "کد", terms: "قوانین و مقررات را می‌پذیرم", button: "ورود",
            error: "کد نامعتبر است",
            success: "شما متصل هستید", logout: "خروج", advertising: "خبرنامه", payment: "پرداخت"),
        Sample(
            language: "Arabic", user: "الاسم", code: "رمز", terms: "أوافق على الشروط والأحكام", button: "دخول",
            error: "الرمز غير صحيح", success: "تم الاتصال بالإنترنت", logout: "تسجيل الخروج", advertising: "نشرة إخبارية",
            payment: "الدفع الآن"),
        Sample(
            language: "Hindi", user: "नाम", code: "कोड", terms: "मैं नियम और शर्तों से सहमत हूँ", button: "कनेक्ट करें",
            error: "कोड अमान्य है", success: "आप ऑनलाइन हैं", logout: "लॉग आउट", advertising: "विज्ञापन", payment: "भुगतान करें"),
        Sample(
            language: "Thai", user: "ชื่อ", code: "รหัสคูปอง", terms: "ฉันยอมรับข้อกำหนด", button: "เชื่อมต่อ", error: "รหัสไม่ถูกต้อง",
            success: "เชื่อมต่อสำเร็จ", logout: "ออกจากระบบ", advertising: "รับข่าวสาร", payment: "ชำระเงิน"),
        Sample(
            language: "Indonesian", user: "Nama", code: "Kode", terms: "Saya setuju dengan syarat dan ketentuan",
            button: "Hubungkan",
            error: "Kode tidak valid", success: "Anda sudah terhubung", logout: "Keluar", advertising: "Berlangganan",
            payment: "Bayar"),
        Sample(
            language: "Vietnamese", user: "Tên", code: "Mã truy cập", terms: "Tôi đồng ý với điều khoản", button: "Kết nối",
            error: "Mã không hợp lệ", success: "Kết nối thành công", logout: "Đăng xuất", advertising: "Nhận khuyến mãi",
            payment: "Thanh toán"),
        Sample(
            language: "Chinese", user: "房间", code: "验证码", terms: "我已阅读并同意服务条款", button: "上网", error: "验证码错误",
            success: "登录成功", logout: "注销", advertising: "订阅", payment: "支付"),
        Sample(
            language: "Chinese, traditional", user: "房號", code: "驗證碼", terms: "我同意使用條款", button: "連線", error: "驗證碼錯誤",
            success: "您已連線", logout: "登出", advertising: "電子報", payment: "付款"),
        Sample(
            language: "Japanese", user: "部屋", code: "認証番号", terms: "利用規約に同意する", button: "接続", error: "番号が正しくありません",
            success: "接続しました", logout: "ログアウト", advertising: "メールマガジン", payment: "決済"),
        Sample(
            language: "Korean", user: "이름", code: "인증번호", terms: "이용약관에 동의합니다", button: "접속하기",
            error: "인증번호가 일치하지 않습니다", success: "인터넷에 연결되었습니다", logout: "로그아웃", advertising: "마케팅 수신",
            payment: "결제하기"),
        Sample(
            language: "Czech", user: "Jméno", code: "Kód", terms: "Souhlasím s podmínkami", button: "Připojit",
            error: "Neplatný kód", success: "Přihlášení proběhlo úspěšně", logout: "Odhlásit",
            advertising: "Novinky", payment: "Zaplatit"),
        Sample(
            language: "Slovak", user: "Meno", code: "Kód", terms: "Súhlasím s podmienkami", button: "Pripojiť",
            error: "Neplatný kód", success: "Boli ste úspešne pripojení", logout: "Odhlásiť",
            advertising: "Novinky", payment: "Zaplatiť"),
        Sample(
            language: "Hungarian", user: "Név", code: "Kód", terms: "Elfogadom a feltételeket", button: "Csatlakozás",
            error: "Érvénytelen kód", success: "Sikeres bejelentkezés", logout: "Kijelentkezés",
            advertising: "Hírlevél", payment: "Fizetés"),
        Sample(
            language: "Romanian", user: "Nume", code: "Cod", terms: "Sunt de acord cu termenii", button: "Conectare",
            error: "Cod invalid", success: "Autentificare reușită", logout: "Deconectare",
            advertising: "Noutăți", payment: "Plătește"),
        Sample(
            language: "Swedish", user: "Namn", code: "Kod", terms: "Jag godkänner villkoren", button: "Anslut",
            error: "Felaktig kod", success: "Du är ansluten", logout: "Logga ut",
            advertising: "Nyhetsbrev", payment: "Betala"),
        Sample(
            language: "Danish", user: "Navn", code: "Kode", terms: "Jeg accepterer vilkårene", button: "Forbind",
            error: "Forkert kode", success: "Du er logget ind", logout: "Log ud",
            advertising: "Nyhedsbrev", payment: "Betal nu"),
        Sample(
            language: "Norwegian", user: "Navn", code: "Kode", terms: "Jeg godtar vilkårene", button: "Koble til",
            error: "Feil kode", success: "Du er tilkoblet", logout: "Logg ut",
            advertising: "Nyhetsbrev", payment: "Betal nå"),
        Sample(
            language: "Finnish", user: "Nimi", code: "Koodi", terms: "Hyväksyn ehdot", button: "Yhdistä",
            error: "Virheellinen koodi", success: "Kirjautuminen onnistui", logout: "Kirjaudu ulos",
            advertising: "Uutiskirje", payment: "Maksa nyt"),
        Sample(
            language: "Ukrainian", user: "Ім'я", code: "Код", terms: "Я погоджуюсь з умовами", button: "Підключитися",
            error: "Невірний код", success: "Ви успішно підключені", logout: "Вийти",
            advertising: "Розсилка", payment: "Оплатити"),
        Sample(
            language: "Bulgarian", user: "Име", code: "Код", terms: "Съгласен съм с условията", button: "Свържи се",
            error: "Невалиден код", success: "Успешно влизане", logout: "Изход",
            advertising: "Бюлетин", payment: "Плати"),
        Sample(
            language: "Greek", user: "Όνομα", code: "Κωδικός", terms: "Αποδέχομαι τους όρους", button: "Σύνδεση",
            error: "Λάθος κωδικός", success: "Επιτυχής σύνδεση", logout: "Αποσύνδεση",
            advertising: "Ενημερωτικό δελτίο", payment: "Πληρωμή"),
        Sample(
            language: "Hebrew", user: "שם", code: "קוד", terms: "אני מסכים לתנאי השימוש", button: "התחבר",
            error: "קוד שגוי", success: "התחברת בהצלחה", logout: "התנתק",
            advertising: "ניוזלטר", payment: "תשלום"),
        Sample(
            language: "Croatian", user: "Ime", code: "Kod", terms: "Prihvaćam uvjete", button: "Poveži se",
            error: "Pogrešan kod", success: "Povezani ste", logout: "Odjava",
            advertising: "Novosti", payment: "Plaćanje"),
        Sample(
            language: "Latvian", user: "Vārds", code: "Kods", terms: "Piekrītu noteikumiem", button: "Pieslēgties",
            error: "Nepareizs kods", success: "Pieslēgšanās veiksmīga", logout: "Iziet",
            advertising: "Jaunumi", payment: "Maksāt"),
        Sample(
            language: "Lithuanian", user: "Vardas", code: "Kodas", terms: "Sutinku su sąlygomis", button: "Prisijungti",
            error: "Neteisingas kodas", success: "Jūs prisijungėte", logout: "Atsijungti",
            advertising: "Naujienlaiškis", payment: "Mokėti"),
        Sample(
            language: "Estonian", user: "Nimi", code: "Kood", terms: "Nõustun tingimustega", button: "Ühenda",
            error: "Vale kood", success: "Sisselogimine õnnestus", logout: "Logi välja",
            advertising: "Uudiskiri", payment: "Maksa kohe"),
    ]

    private func body(_ sample: Sample, _ more: String = "") -> String {
        """
        <form method=post action=/in><table><tr><td>\(sample.user)</td><td><input name=f1></td></tr><tr><td>\(sample.code)</td><td>
        <input name=f2></td></tr></table><input type=checkbox name=b1> \(sample.terms)<br><input type=checkbox name=b2 checked>
        \(sample.advertising)<br><button name=pay value=1>\(sample.payment)</button><button name=out value=1>\(sample.logout)</button>
        <button name=go value=1>\(sample.button)</button></form>\(more)
        """
    }

    @Test(arguments: samples) func aPageIsUnderstood(_ sample: Sample) throws {
        let url = WebURL("https://portal.test/page")!
        // A form that also logs out or pays is not a login; the buttons stand alone here.
        let login = body(sample).replacing("<button name=out value=1>\(sample.logout)</button>", with: "")
        guard case .ask(let prompt, _) = FormEngine().decide(on: page(login, url: url.text), at: url) else {
            return #expect(Bool(false), "not asked")
        }
        #expect(prompt.fields.map(\.name) == ["f1", "f2", "b1"])
        #expect(prompt.fields.map(\.kind) == [.text, .code, .checkbox])
        let engine = FormEngine(answers: ["f1": "7", "f2": "x", "b1": "yes"], isTypedNow: true)
        guard case .submit(let filled, _) = engine.decide(on: page(login, url: url.text), at: url) else {
            return #expect(Bool(false), "not sent")
        }
        #expect(filled.pairs.map(\.name) == ["f1", "f2", "b1", "go"])
        guard case .nothing = FormEngine().decide(on: page(body(sample), url: url.text), at: url) else {
            return #expect(Bool(false), "a logout is no login")
        }
    }

    @Test(arguments: samples) func theOutcomeIsUnderstood(_ sample: Sample) throws {
        #expect(TypedPage(page("<p>\(sample.success)</p>")).soundsLikeSuccess)
        #expect(!TypedPage(page("<p>\(sample.error)</p>")).soundsLikeSuccess)
        #expect(!TypedPage(page(body(sample))).soundsLikeSuccess)
        #expect(TypedPage(page("<p>Wi-Fi</p><p>\(sample.error)</p>")).failure == sample.error)
        #expect(TypedPage(page("<p>\(sample.success)</p>")).failure == nil)
    }

    @Test(arguments: [
        ("English", "Go back", "You have been logged out."),
        ("German", "Zurück", "Ihre Sitzung ist abgelaufen."),
        ("French", "Retour", "Votre session a expiré."),
        ("Spanish", "Volver", "Su sesión ha expirado."),
        ("Italian", "Indietro", "La sessione è scaduta."),
        ("Portuguese", "Voltar", "A sua sessão expirou."),
        ("Dutch", "Terug", "Uw sessie is verlopen."),
        ("Polish", "Powrót", "Twoja sesja wygasła."),
        ("Russian", "Назад", "Ваша сессия завершена."),
        ("Turkish", "Geri dön", "Oturum süreniz doldu."),
        ("Persian", "بازگشت", "شما خارج شدید"),
        ("Arabic", "عودة", "تم تسجيل الخروج"),
        ("Hindi", "वापस जाएं", "आपका सत्र समाप्त हो गया"),
        ("Thai", "กลับ", "ออกจากระบบแล้ว"),
        ("Indonesian", "Kembali", "Anda telah logout"),
        ("Vietnamese", "Quay lại", "Bạn đã đăng xuất"),
        ("Simplified Chinese", "返回", "您已下线"),
        ("Traditional Chinese", "返回", "您已登出"),
        ("Japanese", "戻る", "ログアウトしました"),
        ("Korean", "뒤로", "로그아웃되었습니다"),
        ("Czech", "Zpět", "Byli jste odhlášeni."),
        ("Slovak", "Späť", "Boli ste odhlásený."),
        ("Hungarian", "Vissza", "A munkamenet lejárt."),
        ("Romanian", "Înapoi", "Sesiunea a expirat."),
        ("Swedish", "Tillbaka", "Du har loggat ut."),
        ("Danish", "Tilbage", "Du er nu logget ud."),
        ("Norwegian", "Tilbake", "Du er logget ut."),
        ("Finnish", "Takaisin", "Olet kirjautunut ulos."),
        ("Ukrainian", "Назад", "Ви вийшли."),
        ("Bulgarian", "Назад", "Сесията изтече."),
        ("Greek", "Πίσω", "Έχετε αποσυνδεθεί."),
        ("Hebrew", "חזרה", "התנתקת מהרשת"),
        ("Croatian", "Natrag", "Odjavljeni ste."),
        ("Latvian", "Atpakaļ", "Jūs esat izrakstījies."),
        ("Lithuanian", "Atgal", "Jūs atsijungėte."),
        ("Estonian", "Tagasi", "Olete välja logitud."),
    ]) func theWayBackAndTheEndAreUnderstood(_ language: String, _ back: String, _ ended: String) {
        #expect(Purposes(of: back).leadsBack, "\(language)")
        let ruled = FirstPageCase(TypedPage(page("<p>\(ended)</p>")), at: WebURL("https://portal.test/")!).ruled
        #expect(ruled.rule.number == "P5", "\(language)")
        #expect(!TypedPage(page("<p>\(ended)</p>")).soundsLikeSuccess, "\(language)")
    }

    @Test(arguments: [
        ("Continue as a guest", "Your Internet access has been activated."),
        ("Ohne Anmeldung weiter", "Ihr Internetzugang ist freigeschaltet."), ("Sans inscription", "Votre accès est activé."),
        ("Omitir", "Tu acceso a Internet ha sido habilitado"), ("Entra come ospite", "L'accesso è stato attivato"),
        ("Pular", "Seu acesso foi liberado"), ("Overslaan", "Toegang is verleend"), ("Pomiń", "Przyznano dostęp"),
        ("Пропустить", "Доступ в интернет открыт"), ("Misafir olarak", "Erişim izni verildi"),
        ("ورود مهمان", "دسترسی شما فعال شد"), ("تخطي", "تم منح الوصول"), ("छोड़ें", "इंटरनेट चालू हो गया"),
        ("ข้าม", "ใช้งานอินเทอร์เน็ตได้แล้ว"), ("Lewati", "Akses telah diaktifkan"), ("Bỏ qua", "Đã được cấp quyền truy cập"),
        ("跳过", "您可以上网"), ("略過", "網路已開通"), ("スキップ", "アクセスが許可されました"),
        ("건너뛰기", "접속이 허용되었습니다"),
        ("Jako host", "Přístup povolen"),
        ("Ako hosť", "Prístup bol povolený"),
        ("Vendégként", "Hozzáférés engedélyezve"),
        ("Ca oaspete", "Accesul a fost permis"),
        ("Som gäst", "Åtkomst beviljad"),
        ("Som gæst", "Adgang givet"),
        ("Som gjest", "Tilgang gitt"),
        ("Vieraana", "Pääsy sallittu"),
        ("Пропустити", "Доступ надано"),
        ("Като гост", "Достъпът е разрешен"),
        ("Ως επισκέπτης", "Η πρόσβαση επιτράπηκε"),
        ("כאורח", "הגישה אושרה"),
        ("Kao gost", "Pristup odobren"),
        ("Kā viesis", "Piekļuve atļauta"),
        ("Kaip svečias", "Prieiga suteikta"),
        ("Külalisena", "Juurdepääs lubatud"),
    ]) func theFreeWayAndTheOpenGatewayAreUnderstood(_ free: String, _ granted: String) {
        #expect(Purposes(of: free).isFree && !Purposes(of: granted).isFree)
        #expect(TypedPage(page("<p>\(granted)</p>")).saysGranted && TypedPage(page("<p>\(granted)</p>")).soundsLikeSuccess)
        #expect(TypedPage(page("<p>\(granted)</p>")).failure == nil)
    }

    @Test func aPlainTitleIsNoAdministrators() {
        for title in [
            "Login", "Hotspot login", "Log in to WiFi", "Secure Internet Portal", "Wi-Fi", "Guest Wi-Fi access", "Welcome",
        ] {
            let body = "<title>\(title)</title><h1>\(title) | Hotel</h1><form><input name=u><input type=password name=p></form>"
            #expect(!FirstPageCase(TypedPage(page(body)), at: WebURL("https://portal.test/")!).isNoPortals, "\(title)")
        }
    }

    @Test func shortWordsStandAlone() {
        for text in ["Bookshop", "Spinning", "Tokyo", "Stockholm", "agoraphobia", "Restart"] {
            #expect(!Purposes(of: text).isOnward, "\(text)")
        }
        #expect(Purposes(of: "OK!").isOnward && Purposes(of: "ok").isOnward)
        #expect(!Purposes(of: "shopping").isCode && Purposes(of: "your PIN").isCode && Purposes(of: "PIN-Code").isCode)
        #expect(Purposes(of: "haveTerms").isTerms && Purposes(of: "AGB").isTerms && !Purposes(of: "hagbard").isTerms)
    }

    @Test(arguments: [
        ("4,90 €", true), ("Only 1.99 per day", true), ("2,49 pro Woche", true), ("1.200,00 al mes", true), ("3.50/hour", true),
        ("€ 5", true), ("USD 3.50", true), ("$ 0.00", false), ("0 €", false), ("5 Euro", true),
        ("EURO 2024", false),
        ("Room 5", false), ("100円", true), ("Rs. 50", true),
    ]) func sumsOfMoneyAreSeen(_ text: String, isPrice: Bool) { #expect(Purposes(of: text).hasPrice == isPrice) }

    @Test(arguments: [
        "9.99 dollars", "5 pounds", "99 kr", "99,- kr", "20 zł", "99 руб.", "15 лв", "1 000 Ft", "100\u{A0}Ft", "₹50", "10 TL",
        "5 francs", "500 yen", "1,50 EUR/h", "from €5", "5 us dollars", "5 eur", "eur 5", "CHF 5.-", "5 Franken", "Rp 5.000",
        "5000원", "30元", "10 ريال", "٥ ريال", "50 रुपये", "20 บาท", "20บาท", "20 ש\"ח", "20 שקלים", "100 Kč", "20 lei", "3 eiro",
        "5 ευρώ", "50 грн", "5 eurų", "5 eurot", "5 euroa", "10.000 đồng", "50 000 تومان", "5 欧元", "5ユーロ", "10 reais",
        "50 kronor", "2 libras", "R$ 10", "10 US$", "3 forintért",
    ]) func currencyWordsMakeAPrice(_ text: String) { #expect(Purposes(of: text).hasPrice, "\(text)") }

    @Test(arguments: [
        "5 minutes", "24 h", "100 MB", "Room 5", "we won 5 times", "Crown Hotel 5", "12 Pound Street", "Hotel EUR", "try 5 times",
        "5 European cities", "2.40 GHz", "12.30 Uhr", "10.03", "2.50 hours", "a 5.00 rating", "0,00 pro Tag",
        "192.168.10.25 a day", "9.5 a day", "30 sek", "100 ft", "kr1", "btn1", "Euro 2028", "0 Euro", "0,00 kr", "pound",
        "5 stars", "php 8",
    ]) func otherNumbersAreNoPrice(_ text: String) { #expect(!Purposes(of: text).hasPrice, "\(text)") }

    @Test(arguments: [
        "Confirm order", "Start subscription", "Pay by phone bill", "Order with obligation to pay", "Bestellung bestätigen",
        "Abonnement starten", "Per Handyrechnung", "Confirmer la commande", "S’abonner", "Confirmar pedido", "Conferma ordine",
        "Bestelling bevestigen", "Zamawiam z obowiązkiem zapłaty", "Оформить подписку", "Siparişi onayla", "ثبت سفارش",
        "تأكيد الطلب", "ऑर्डर की पुष्टि करें", "ยืนยันคำสั่งซื้อ", "Konfirmasi pesanan", "Đặt hàng", "确认订单", "確認訂單", "注文を確定する",
        "구독 시작", "Potvrdit objednávku", "Potvrdiť objednávku", "Megrendelés", "Confirmă comanda", "Bekräfta beställning",
        "Bekræft ordre", "Bekreft bestilling", "Vahvista tilaus", "Підтвердити замовлення", "Потвърди поръчката",
        "Επιβεβαίωση παραγγελίας", "אישור הזמנה", "Potvrdi narudžbu", "Apstiprināt pasūtījumu", "Patvirtinti užsakymą",
        "Kinnita tellimus",
    ]) func aButtonThatOrdersPays(_ label: String) { #expect(Purposes(of: label).isPayment, "\(label)") }

    @Test func readsOneKindOfApostropheAndBlank() {
        for text in ["J'ACCEPTE tout", "J\u{2019}accepte\u{A0}TOUT", "j\u{2019}Accepte tout"] {
            #expect(PhraseBook.folded(text) == Array("j'accepte tout".utf8))
        }
        #expect(PhraseBook.folded("Être \u{2019}") == Array("être '".utf8))
    }
}
