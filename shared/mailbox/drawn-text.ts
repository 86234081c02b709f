/** Whether a run of signs looks as if drawn at random, as secrets are, or is a word or number of a text. */

/** Words that follow the name of a secret and are none, without accents. */
const noSecrets: ReadonlySet<string> = new Set(
  `valid invalid required needed expired expiring changed updated reset sent used reused unused
    case not now no yes the a an about below above here there this that these those what when where which
    only good bad being safe secure strong weak correct incorrect wrong fine ok okay great easy hard simple clean free worth due done gone back live long short old new okay nice broken lost stolen compromised leaked cancelled canceled rejected accepted approved verified confirmed active listed printed shown sealed shared public open closed locked unlocked ready set protected stored saved
    encrypted hidden known unknown missing empty same different unique important enabled disabled
    link links button form email e-mail mail number numbers address browser device phone option options app
    lien liens bouton enlace enlaces boton collegamento pulsante botao knop odnosnik przycisk ссылка ссылку ссылке
    baglanti baglantiyi dugme unico unica unique einzige enige
    provided displayed received generated attached included mentioned emailed texted requested
    optional confidential secret private personal temporary temporarily case-sensitive available active
    inactive on in at to for from with by of or and if as so too also still just your you we it its
    never always again account konto compte cuenta conta rekening review reviews base change changes manager managers policy policies hygiene protection generator owner quality samples snippet snippets source freeze field fields pad page screen sent twice once entered requested request fuente abierto sorgente quelle source and/or n/a none active. see click visit contact follow enter use please
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
    dogrulama onay guvenlik aktivasyon etkinlestirme giris erisim kullanimlik sifre indirim bu su bir
    gecerli gecersiz degisti burada asagida icin ve veya`.split(/\s+/),
)

const mailbox = /^[^\s@]+@[^\s@]+\.\p{L}{2,}$/u

/** What is announced as a secret is one, unless it is a word that says something about it. */
export function isSecret(run: string): boolean {
  if (run.length < 3 || !/[\p{L}\p{N}]/u.test(run) || mailbox.test(bareOf(run))) return false
  return !tellsOfSecrets(bareOf(run))
}

/** Whether a word is one that says something about a secret, or joins others. */
export function tellsOfSecrets(word: string): boolean {
  return noSecrets.has(withoutAccents(word))
}

/** What stands alone is one, unless it is a word that begins with a capital, as names and titles do. */
export function isDrawn(run: string): boolean {
  const bare = bareOf(run)
  if (!isSecret(run) || bare.length < 4) return false
  return looksDrawn(run) || /^\p{Ll}\p{L}+$/u.test(bare)
}

/** What is in the middle of a text is one by its signs: digits, signs among letters, capitals. */
export function looksDrawn(run: string): boolean {
  const bare = bareOf(run)
  if (!isSecret(run) || bare.length < 4 || isNumberOfText(bare)) return false
  if (/\p{N}/u.test(bare) || /^\p{Lu}+(?:-\p{Lu}+)?$/u.test(bare)) return true
  if (bare.split('-').length > 3) return true
  // Not its/theirs, it's, e.g. or well-known.
  if (/[\p{L}][^\p{L}\p{N}'’./,-]+\p{L}/u.test(bare)) return true
  const rises = bare.match(/\p{Ll}\p{Lu}/gu)?.length ?? 0
  return rises > 1 || (rises === 1 && bare.length < 6)
}

/** What is a secret without any word about it: four words with dashes, or signs of three kinds and more. */
export function isDrawnForSure(run: string): boolean {
  const bare = bareOf(run)
  if (!isSecret(run) || bare.length < 8 || isNumberOfText(bare)) return false
  if (/^[a-z]{3,12}(?:-[a-z]{3,12}){3,}$/.test(bare)) return true
  const kinds = [/\p{Ll}/u, /\p{Lu}/u, /\d/, /[^\p{L}\d./,:@_–-]/u]
  return kinds.every((kind) => kind.test(bare))
}

/** How many digits something has, as in 6-digit, and names that begin with a number, as in 3Bridges. */
export const countOrBrand = /^\d{1,2}(?:-\p{Ll}{3,}|\p{Lu}\p{Ll}{3,})$/u

/** Dates, times, amounts, shares and ordinals. */
function isNumberOfText(bare: string): boolean {
  return (
    /^(?:\d{1,4}[./-]){2}\d{1,4}$|^\d{1,2}:\d\d|^\d{1,3}(?:\p{L}{1,3}|%)$|%$/u.test(bare) ||
    /^\p{Sc}|\p{Sc}$|^(?:19|20)\d\d$/u.test(bare) ||
    countOrBrand.test(bare) ||
    /^\d{1,3}(?:[.,]\d{3})*[.,]\d\d?$/.test(bare)
  )
}

function bareOf(run: string): string {
  return run.replace(/[.,;:!?)"'»”]{1,3}$/, '')
}

function withoutAccents(word: string): string {
  return word.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '')
}
