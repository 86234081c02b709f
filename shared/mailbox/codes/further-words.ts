/**
 * The words of `code-words.ts` and `secret-words.ts` in further languages: Swedish, Danish, Norwegian,
 * Finnish, Czech, Slovak, Slovene, Croatian, Serbian, Hungarian, Romanian, Catalan, Estonian, Latvian,
 * Lithuanian, Greek, Ukrainian, Bulgarian, Korean, Arabic, Persian, Hebrew, Hindi, Thai, Vietnamese,
 * Indonesian and Malay. A dash matches anything that may be between the parts of a name.
 */

/** Names of codes. */
export const codeNames = `koodi tunnusluku kood codul codului
  κωδικός κωδικό κωδικού κωδικοί 코드 인증-번호 확인-번호 보안-번호 일회용-비밀번호 임시-비밀번호
  رمز كود الرقم-السري رقم-التحقق کد קוד कोड ओटीपी รหัส โอทีพี
  mã-xác mã-otp mã-pin mã-code mã-đăng-nhập mã-bảo-mật mã-kích-hoạt mã-khôi-phục mã-truy-cập
  mã-của-bạn mã-dưới mã-mời mã-một-lần engangskod engångslösenord engangspassord engangsadgangskode
  kertakoodi kertakäyttösalasana jednorázové-heslo jednorazové-heslo egyszer-használatos-jelszó`

/** Names of codes that must stand alone as a word. */
export const shortCodeNames =
  'cod codi codis mã пін combination kombination combinaison combinación combinazione combinação'

/** Names of passwords and keys. */
export const secretNames = `lösenord adgangskode passord kodeord salasana heslo heslem hesla lozinka lozinku
  zaporka geslo jelszó jelszava parolă contrasenya parool slaptažod συνθηματικό κωδικός-πρόσβασης
  пароля паролем парола лозинка 비밀번호 패스워드 암호 كلمة-المرور كلمة-مرور كلمة-السر كلمة-سر گذرواژه
  رمز-عبور کلمه-عبور پسورد סיסמה סיסמא ססמה סיסמת पासवर्ड รหัสผ่าน mật-khẩu mật-mã kata-sandi sandi
  kata-laluan api-nyckel api-nøgle api-nøkkel api-avain api-klíč api-kľúč api-kulcs api-키 مفتاح-api מפתח-api
  credential credentials zugangsdaten zugangskennung identifiants credenciales credenziali credenciais
  inloggegevens inloggningsuppgifter tunnistetiedot přihlašovací-údaje pověření облікові-дані
  secret-code personal-code licensnyckel lisenssiavain licenční-klíč lizenzschlüssel lizenzcode
  clé-de-licence clave-de-licencia chiave-di-licenza chave-de-licença licentiesleutel klucz-licencyjny
  лицензионный-ключ лицензии serial-key product-key registration-key
  wi-fi-key wlan-schlüssel netzwerkschlüssel network-key secret-word pre-shared-key
  collection-reference pick-up-reference pick-up-number abholnummer numéro-de-retrait numero-de-recogida numero-di-ritiro
  ライセンスキー アクセスキー プロダクトキー シリアルキー セキュリティキー 秘密鍵 密钥 密鑰 秘钥 卡密 라이선스-키 제품-키 액세스-키 시크릿`

/** Words that sometimes name a secret, and what a secret number opens. */
export const weakNames = `nyckel avain klíč kľúč ključ kulcs cheie clau võti κλειδί 토큰 مفتاح מפתח कुंजी トークン シークレット
  clé ключа ключом psk puk bearer keypad keybox key-box key-safe lockbox lock-box digicode boîte-à-clés
  schlüsselbox schlüsseltresor schlüsselsafe caja-de-llaves cassetta-delle-chiavi sleutelkluis geheimzahl geheimnummer`

/** Words for actions taken with a code or a link to sign in. */
export const actions = `logga-in loggar-in inloggning godkänn godkend godkjenn bekräft verifier återställ aktiver inbjud lås-upp länken-nedan
  log-ind logg-inn bekreft nulstil tilbakestill inviter lås-op kirjaudu kirjautu vahvist palaut aktivoi kutsu tunnistaut nollaa
  přihlás přihlaš prihlás prihlas potvrd potvrď potvrz obnov resetov aktivac aktivov aktivac pozvánk pozván registrac ověřit ověřen overen overte overit
  prijav ponist ponišť pozivn povabil ponastav bejelentkez belép megerősít visszaállít aktivál meghív regisztrál
  autentific conecta resetați resetare invita σύνδεση επιβεβαί επαλήθευ επαναφορ ενεργοποί πρόσκληση
  увійти входу скинут скидан актив запрош потвърд нулир покан перевірк
  로그인 비밀 인증 확인 재설정 초기화 활성화 초대 가입 변경하기-위해
  تسجيل-الدخول تأكيد التحقق تحقق إعادة-تعيين لإعادة تفعيل دعوة دعوت الدخول الرابط
  ورود تایید تأیید بازنشانی فعال دعوت כניסה להיכנס התחבר אימות לאמת אמת לאישור לאשר אשר איפוס לאפס הפעל נעילת הקישור
  लॉगिन साइन-इन पुष्टि सत्याप रीसेट सक्रिय आमंत्र नीचे-दिए เข้าสู่ระบบ ยืนยัน รีเซ็ต เปิดใช้งาน คำเชิญ ลิงค์ ลิงก์
  đăng-nhập xác-nhận xác-minh xác-thực đặt-lại kích-hoạt lời-mời được-mời mật-khẩu liên-kết
  masuk konfirmasi atur-ulang tautan-di undang sahkan log-masuk
  delete-your account-deletion account-is-ready account-has-been-created shared-with-you
  personal-link private-link your-link vote-here lien-personnel persönlichen-link persönlicher-link
  enlace-personal link-personale link-pessoal persoonlijke-link linkkisi osobní-odkaz личн`

/** Names of numbers that are not secret, including codes such as promo codes. */
export const others = `ordernummer beställning kundnummer kollinummer bankgiro rum summa belopp ocr organisationsnummer
  postnummer felkod rabattkod kampanjkod spårning ordre kunde sporings beløb fejlkode rabatkode feilkode
  rabattkode tilaus lasku asiakas seuranta puhelin viite alennuskoodi tuote postinumero virhekoodi
  objednávk objednávka zákazník zákaznícke zásilk zásielk číslo částka variabilní psč slevov zľavov zboží kód-chyby
  ičo dič rendelés rendelésszám számla ügyfél ügyfélszám csomag összeg termék kuponkód irányítószám hibakód
  comand comanda factur factura colet sumă cod-poștal cod-de-reducere cod-promo awb cui narudžb račun
  kupac pošiljk iznos popust poštanski-broj naročil παραγγελί τιμολόγιο πελάτη αποστολή τηλέφωνο ποσό
  ταχυδρομικός εκπτωτικός αφμ замовлен рахунок рахунку клієнт посилк відправлення товар сума разом
  код-помилки поштовий-індекс поръчк фактура пратк телефонен
  주문 청구 송장 운송장 고객-번호 상품 합계 금액 전화 우편번호 쿠폰 할인-코드 오류-코드 예약 사업자
  رقم-الطلب الطلب فاتورة العميل التتبع المبلغ الهاتف المنتج الإجمالي رمز-الخصم كود-الخصم الرمز-البريدي
  سفارش فاکتور مشتری پیگیری مبلغ تلفن کد-تخفیف کد-پستی کد-پیگیری
  מספר-הזמנה מספר-לקוח מספר-מעקב פריט חשבונית טלפון סכום קוד-קופון קוד-הנחה מיקוד
  ऑर्डर चालान ग्राहक राशि फोन कूपन उत्पाद ट्रैकिंग
  คำสั่งซื้อ ใบแจ้งหนี้ ลูกค้า พัสดุ โทร สินค้า รหัสไปรษณีย์ รหัสส่วนลด คูปอง
  mã-đơn-hàng đơn-hàng hóa-đơn mã-khách-hàng khách-hàng mã-vận-đơn vận-đơn điện-thoại số-tiền mã-giảm-giá
  mã-bưu mã-lỗi sản-phẩm mã-sản-phẩm pesanan pelanggan resi telepon produk kode-promo kode-pos kode-diskon
  submission plate meter barcode signature call-number patron coach seats score barcode
  referenz referencia riferimento referentie referans referens prenotazione reserva αριθμός संख्या رقم-الحجز الحجز mã-đặt nomor pemesanan varaus foglalás bokning rezervac varausnumero κράτησης
  articolo artículo tuotenumero code-vestimentaire kleiderordnung codigo-de-vestimenta codice-etico etikett
  code-de-la-route code-of-conduct code-of-ethics código-ético code-civil 商品 产品 產品 品番 型番 車両`

/** Verbs that say what a secret is, but are other words elsewhere. Each counts only after its names. */
export const verbsOfNames: readonly [verb: RegExp, name: RegExp][] = [
  [/^to$/u, /^(?:kod|hasl)/],
  [/^ar$/u, /^(?:kod|losenord|engangs|nyckel|pin)/],
  [/^er$/u, /^(?:kod|adgangskod|passord|engangs|pin)/],
  [/^on$/u, /koodi|^salasana|^tunnus/],
  [/^je$/u, /^(?:kod|hesl|lozink|zapork|geslo|sifr|pin)/],
  [/^este$/u, /^(?:cod|parol|pin)/],
  [/^la$/u, /^(?:ma|mat)/],
  [/^е$/u, /^(?:код|парол)/],
]

/** Further verbs between a name and its secret, as part of a pattern. */
export const furtherVerbs =
  'ar|er|on|je|este|la|sera|sara|wordt|bedzie|будет|adalah|ialah|είναι|це|є|е'

/** Verbs and particles between a name and its secret that need no space, as part of a pattern. */
export const furtherMarks = 'คือ|(?<![\\p{Script=Arabic}])ه[وي](?= )|ה[וי]א(?= )|[은는](?= )'
