/**
 * The words by which people recognise a code, in twelve languages, and in others with
 * `further-words.ts`: names of codes, actions with them, and names of other numbers. They are compared
 * folded (`folded-text.ts`), without accents and case. A word also counts inside a longer one, as in
 * Sicherheitscode.
 */
import { alternatives } from './folded-text.ts'
import * as further from './further-words.ts'

/** Names of codes. */
const codeNames = `code codigo codice codigos codici kod kodu kodem kody код кода кодом коды passcode
  verification-number access-number zugangsnummer numero-d-acces numero-de-acceso numero-di-accesso toegangsnummer one-time-password temporary-password one-time-pass einmalpasswort einmalkennwort
  einmalkennung einmal-passwort mot-de-passe-temporaire mot-de-passe-unique mot-de-passe-a-usage-unique
  contrasena-temporal contrasena-de-un-solo clave-temporal clave-de-un-solo clave-de-acceso
  clave-dinamica clave-unica password-temporanea password-monouso palavra-passe-temporaria senha-de-uso
  senha-temporaria senha-unica senha-de-acesso eenmalig-wachtwoord tijdelijk-wachtwoord
  haslo-jednorazowe hasla-jednorazowego haslem-jednorazowym haslo-tymczasowe одноразовый-пароль
  одноразового-пароля временный-пароль одноразовым-паролем tek-kullanimlik-sifre gecici-sifre
  验证码 驗證碼 校验码 校驗碼 动态密码 動態密碼 动态码 動態碼 安全码 安全碼 激活码 啟用碼 登录码 登入碼
  确认码 確認碼 识别码 口令 一次性密码 一次性密碼 随机码 密码为 授权码 授權碼
  コード 暗証番号 認証番号 確認番号 検証番号 ワンタイムパスワード ワンタイムパス 合言葉 仮パスワード`

/** Names of codes that must stand alone as a word. */
const shortNames = 'pin pin-code otp totp tan mtan smstan 2fa token пин pass-code'

/** Words for actions taken with a code or a link to sign in. */
const actions = `sign-in signing-in sign-on log-in logging-in login log-on verif authenticat two-factor
  unlock unblock reactivat restore-access restore-your been-invited are-invited invites-you invited-to
  accept-the-invit accept-invit accept-your-invit join-the-team join-the-workspace recover-your recover-access regain-access change-your-password change-password change-your-email
  link-expires link-will-expire link-is-valid link-is-good link-to-change complete-your-registration
  finish-signing finish-setting-up finish-creating set-up-your-account update-your-account
  set-up-your-password setup-your-password set-your-password set-it-up create-your-password set-a-password
  new-device approve-this approve-your authorize authorise pair-your link-your connect-your
  invited-you join-here two-step 2-step security-number one-time confirm-your confirm-that confirm-it activat
  reset-your-password new-password choose-a-new-password password-reset magic-link invitation
  invited-you these-digits these-numbers following-digits
  anmeld einlogg einzulogg bestatig verifizier freigabe freigeb aktivier passwort-zuruck neues-passwort
  ziffern zugang login-link einmal einlad entsperr zurucksetz eingeladen passwort-ander neues-kennwort
  connexion connect verifi valid confirm chiffres acces authentif activ reinitialis mot-de-passe invit deverrouill debloqu rejoindre
  iniciar-sesion inicio-de-sesion acceso acceder entrar verific confirma autoriz estos-numeros digitos
  restablec contrasena activa-tu activar invitacion desbloque credenciales invitado
  accedi accesso accedere entrare conferm autorizz cifre reimposta attiva invito numeri sblocc credenziali invitato
  aceder acessar acesso confirm autentic redefin palavra-passe senha ativar ativacao ative-su ative-a convite estes-numeros redefin credenciais convidad
  inlog in-te-loggen aanmeld bevestig verifieer verificatie cijfers wachtwoord activeer uitnodig ontgrendel inloggegevens
  zalog logowan potwierd weryfik zweryfik uwierzyt zatwierd cyfry hasl aktyw zaprosz odblok
  вход войти войдите подтверд подтверж проверочн аутентификац цифры парол активац активир приглаш разблок сброс
  giris girin oturum dogrula onayl onayin rakamlar sifre etkinlestir davet kilidi sifirla
  登录 登入 登陆 验证 驗證 认证 認證 确认 確認 激活 啟用 重置 重設 密码 密碼 数字 數字 注册 邀请 邀請 解锁 解鎖
  ログイン サインイン 認証 確認 承認 パスワード 数字 有効化 再設定 登録 招待 ロック解除`

/** Names of numbers that are not secret, including codes such as promo codes. */
const others = `skoda kodak code-review code-freeze code-base code-owner code-change
  code-quality code-coverage code-style code-snippet code-signing ext extension durchwahl doorkiesnummer promo-code promotional-code discount-code coupon coupon-code voucher gift-card-code
  gift-code referral-code invite-code promocode area-code postal-code postcode post-code zip zip-code
  error-code exit-code status-code country-code qr-code bar-code barcode dress-code product-code course-code
  source-code sort-code swift bic tracking-code tracking-number tracking tracking-id order invoice
  receipt reference ref booking reservation ticket case account-number account-no customer customer-no
  phone call tel fax ending ending-in flight seat room suite isbn sku serial model vat tax version
  build readers total amount article employee member membership policy-number contract po-box
  gutscheincode gutschein rabattcode aktionscode fehlercode postleitzahl plz vorwahl bestell rechnung
  kunden sendung paketnummer auftrag vorgang aktenzeichen telefon tel rufnummer konto endet-auf
  endziffern buchung ticketnummer vertrag steuernummer artikel zimmer flug bankleitzahl blz strichcode
  code-promo code-promotionnel code-de-reduction code-avantage code-postal code-erreur code-barre
  code-d-erreur commande facture recu suivi colis client dossier montant telephone appelez se-terminant
  reservation vol chambre siret numero-de-compte
  codigo-promocional codigo-de-descuento cupon codigo-postal codigo-de-error codigo-de-seguimiento
  codigo-de-barras pedido factura recibo seguimiento envio cliente expediente telefono llama
  terminada-en tarjeta importe reserva vuelo habitacion consulta
  codice-sconto codice-promozionale buono codice-cliente codice-postale codice-fiscale codice-errore
  codice-di-tracciamento codice-a-barre ordine fattura ricevuta spedizione cliente pratica telefono
  carta importo cap prenotazione volo camera richiesta partita-iva
  codigo-de-rastreio codigo-de-rastreamento cupom codigo-de-desconto codigo-de-erro cep pedido
  encomenda fatura recibo protocolo telefone ligue cartao-final final cartao nif cpf cnpj reserva voo
  atendimento envio
  kortingscode actiecode trackingcode foutcode streepjescode bestelling factuur bon klant pakket
  zaaknummer telefoon bel kaart boeking vlucht kamer kenteken melding postcode
  kod-rabatow kodem-rabatow kod-promocyjn kodem-promocyjn kod-pocztow kod-bledu kod-sledzenia
  kod-kreskow zamowien faktur paragon przesylk paczk klient sprawa sprawy telefon tel nip konto
  rezerwac lot pokoj zgloszen konczac karta
  промокод код-отслеживания код-ошибки почтовый-код код-города штрих-код индекс заказ счет чек
  трек-номер посылк отправлен клиент обращени заявк телефон тел карт-оканчив карта бронь брони рейс
  номер-договор инн
  indirim-kod promosyon-kod kupon hata-kod posta-kod takip-kod alan-kod barkod siparis fatura makbuz
  takip musteri telefon tel kart talep rezervasyon ucus oda
  优惠码 優惠碼 折扣码 折扣碼 促销码 兑换码 邮编 邮政编码 郵遞區號 区号 错误码 错误代码 二维码 订单 訂單
  发票 發票 收据 运单 快递 单号 單號 客户编号 编号 编码 电话 電話 热线 尾号 工单 航班 房间 车次
  クーポンコード 割引コード プロモーションコード エラーコード 郵便番号 〒 バーコード 注文 請求書 領収書
  追跡番号 お客様番号 会員番号 受付番号 お問い合わせ番号 問い合わせ 電話 tel 末尾 予約 便名 qrコード
  商品コード`

/** A number sign, or the word for number, right before a number that is not called a code. */
export const numberLabel =
  /(?:#|\bn[°o.]|\bnr|\bid|\bnum|number|nummer|numero|numer|номера?|numara(?:si)?|号码?|番号?|번호|numero|cislo|szam)[\s.:°o]*$/u

/**
 * The text that may be between the name of a code and the code: the end of the name, as in código de
 * acceso or код безопасности, followed by nothing or by words that end in pointing at the code.
 */
export const codeGap =
  /^\p{L}{0,14}(?:[\s']+(?:d[eio']|del|da|for|van|zur?m?|fur|pour|para|per|voor|en|in)[\s']+\p{L}{2,20}|[\s']+\p{L}{5,20})?[\s:"'«„“”「【(*_>-]*$|(?::|\b(?:is|are|ist|lautet|lauten|est|sera|es|e|sao|to|jest|luidt)|это|は|が|是|为|為)[\s"'«„“”「【(*_>-]*$/u

/** The text that may be between the name of a number and the number. */
export const labelGap =
  /^\p{L}{0,14}[\s:#.()°-]*(?:n[ro°.]|id|number|nummer|numero|numer|номера?|numarasi|号码?|番号)?[\s:#.°]*(?:is|ist|est|es|e|lautet|to|this|unter|numarali|は|是|为)?[\s:#.(«"「-]*$/u

/** Words that make a link harmless, whatever it contains. */
export const unsubscribeWords = wordPattern(`unsubscribe opt-out optout unsub email-preferences
  notification-settings manage-preferences abmelden abbestellen abbestell desabonn desinscri
  desinscription darse-de-baja cancelar-suscripcion baja disiscriv cancella-iscrizione annulla-iscrizione
  cancelar-inscricao descadastr anular-subscricao afmelden uitschrijven wypisz rezygnacja zrezygnuj
  отписаться отписка отказаться-от-рассылки abonelikten-cik listeden-cik aboneligi 退订 取消订阅 退訂
  取消訂閱 配信停止 配信の停止 購読解除`)

const letters = '[\\p{Script=Latin}\\p{Script=Cyrillic}]'
const begun = `(?<!${letters}|\\p{N})`
const ended = `(?!${letters})`

/** Any Chinese word for a code, but not for a number, a scan, a size or a bar code. */
const chineseCode = '(?<=\\p{Script=Han})(?<![号號扫掃尺数數编編密代乱源条條维維区區邮])[码碼]'

/** Names of codes, as a pattern over folded text. */
export const codeNamePattern = new RegExp(
  `${wordPattern(`${codeNames} ${further.codeNames}`).source}|${chineseCode}|${begun}(?:${alternatives(`${shortNames} ${further.shortCodeNames}`)})${ended}`,
  'gu',
)
/** Actions taken with codes, as a pattern over folded text. */
export const actionPattern = wordPattern(`${actions} ${further.actions}`)
/** Names of other numbers, as a pattern over folded text. */
export const nonSecretNamePattern = new RegExp(
  `${begun}(?:${alternatives(`${others} ${further.others}`, ended)})`,
  'gu',
)

/** Builds a pattern from a list of words. A dash matches anything that may be between parts of a word. */
function wordPattern(list: string): RegExp {
  return new RegExp(alternatives(list), 'gu')
}
