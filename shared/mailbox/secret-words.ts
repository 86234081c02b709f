/**
 * Words around secrets of any form, in twelve languages and folded: what names a password or a key,
 * what stands between such a name and the secret, and what can stand there and is none.
 */
import { foldText } from './folded-text.ts'
import { alternatives } from './code-words.ts'

/** Names of passwords and keys; whatever is said to be one is sealed. */
const names = `password passwort kennwort passcode passphrase passwd mot-de-passe contrasena parola
  parola-chiave senha palavra-passe wachtwoord haslo haslem hasla пароль пароля sifre parolanız 密码 密碼
  パスワード api-key apikey api-schlussel cle-api cle-d-api clave-api clave-de-api chiave-api chave-de-api
  api-sleutel klucz-api api-anahtar secret-key access-key private-key recovery-key license-key licence-key
  activation-key encryption-key signing-key client-secret webhook-secret auth-token access-token api-token
  bearer-token refresh-token personal-token reset-token recovery-phrase seed-phrase secret-phrase
  backup-code recovery-code freischaltcode zugangscode aktivierungscode`

/** The same, where the word must stand alone. */
const shortNames = 'pass pwd pw mdp'

/** Words that name a secret at times: what is said to be one has to look like one. */
const weakNames =
  'key token secret schlussel geheimnis clave llave chiave chave sleutel klucz ключ токен anahtar'

const letters = '[\\p{Script=Latin}\\p{Script=Cyrillic}]'
const alone = (list: string) => `(?<!${letters}|\\p{N})(?:${alternatives(list)})(?!${letters})`

/** Names of passwords and keys, as a pattern over folded text. */
export const secretNamePattern = new RegExp(
  `${alternatives(names)}|${alone(shortNames)}|${alone(weakNames)}`,
  'gu',
)

/** A name that is one of a secret only where that looks like one. */
export const weakName = new RegExp(`^(?:${alternatives(weakNames)})$`, 'u')

/** A name of a secret of several words. */
export const phraseName = /phrase$/

/** What says that the secret follows, after the name and words that belong to it. */
export const announcement = /^(?:[^\n.!?:=]|[.!?](?=\S)){0,100}[:=](?!\/\/|\d)/

/** Words right before a colon after which comes whom or what a secret is for. */
export const tellsWhom =
  /(?:account|user|username|name|e-?mail|address|device|contact|support|help|from|by|konto|benutzer|compte|utilisateur|cuenta|usuario|conta|utente|rekening|аккаунт\p{L}{0,3}|hesap|hesabiniz)\s?[:=]$/u

/** Verbs between a name and its secret; `e` is one only with its accent. */
export const saying =
  /(?:^|[\s"'”»])(?:is|are|reads|ist|lautet|lauten|sind|est|sont|es|son|e|sono|sao|zijn|luidt|to|jest|brzmi|это)(?=[\s:])|是|为|為|は|が/gu

/** What a secret is said to be before its name, at the beginning of a sentence. */
export const saidBefore =
  /^[\s"'«“„(*_>-]{0,4}(\S{3,64}?)["'»”)*_]{0,3},? (?:is|ist|est|es|e|jest|to|это|[-–—]) [^.!?\n]{0,80}$/u

/** What is done with a secret, named right before it or not at all. */
export const usedFor =
  /(?<![\p{L}\p{N}])(?:use|enter|type|nutze|gib|verwende|utilisez|saisissez|usa|introduce|inserisci|digite|voer|wpisz|введите|используйте) (?:(?:the|this|den|le|il|el|o|de) )?(?:(?:code|codigo|codice|kod|код|pin|otp) )?(\S{4,64}) (?:to|or|in|um|ein|oder|pour|ou|para|per|om|of|aby|lub|чтобы|или)(?!\p{L})/gu

/** Keys that show by their beginning what they are, whatever stands around them. */
export const knownKey =
  /(?<![\p{L}\p{N}_-])(?:(?:sk|rk|pk)[_-](?:live|test|proj|ant)[_-]|whsec_|gh[opsur]_|github_pat_|glpat-|xox[abprs]-|sg\.|aiza|ya29\.|npm_|hf_|akia|asia|pypi-|dop_v1_|shp(?:at|ss)_|eyj)[^\s<>"']{12,}/gu

/** Words at the end of those that belong to a name which say when it ends, not what it is. */
export const tellsTime =
  /expir|valid|until|gultig|ablauf|caduc|venc|scad|validade|geldig|wazn|действ|истек|gecerli|date|time|datum|uhr|有效|期限/u

/** What follows a name and is no secret. */
export const noSecrets: ReadonlySet<string> = new Set(
  foldText(`valid invalid required needed expired expiring changed updated reset sent used reused unused
    case not now no yes the a an about below above here there this that these those what when where which
    only good bad being safe secure strong weak correct incorrect wrong fine ok okay great easy hard simple clean free worth due done gone back live long short old new okay nice broken lost stolen compromised leaked cancelled canceled rejected accepted approved verified confirmed active listed printed shown sealed shared public open closed locked unlocked ready set protected stored saved
    encrypted hidden known unknown missing empty same different unique important enabled disabled
    optional confidential secret private personal temporary temporarily case-sensitive available active
    inactive on in at to for from with by of or and if as so too also still just your you we it its
    never always again and/or n/a none active. see click visit contact follow enter use please
    gultig ungultig erforderlich notig abgelaufen geandert nicht nur der die das ein eine unten oben hier
    sicher falsch richtig bereit aktiv bei fur von und oder wie zu im am
    valable valide invalide requis expire modifie pas le la les un une ici ci-dessous dessous votre
    incorrect correct pret de du des pour et ou en dans
    valido valida invalido requerido caducado cambiada no el los una aqui abajo su tu segura incorrecta
    para con por y o en
    valido scaduto richiesto cambiata non il lo qui sotto sicura errata per con di e
    expirado alterada nao os as aqui abaixo sua seu segura com por
    geldig ongeldig verlopen gewijzigd niet het een hier onder veilig voor van en of
    wazne wazny niewazny wygasl zmienione nie tutaj ponizej dla i lub
    действителен действителна недействителен истек изменен не здесь ниже для и или
    gecerli gecersiz degisti burada asagida icin ve veya`)
    .text.split(/\s+/),
)
