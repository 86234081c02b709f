/** A mail is read in the charset that its bytes show, whether it names that one, none or another. */
import { expect, test } from 'vitest'
import { findCodes } from '../../shared/mailbox/codes/codes.ts'
import { decodeText } from '../../shared/mailbox/receive/charset.ts'
import { parseMail } from '../../shared/mailbox/receive/parse.ts'
import { encodeIn } from '../support/charsets.ts'
import { mails } from '../support/mail-corpus/mails.ts'

const code = '482913'
const texts: readonly [charset: string, text: string][] = [
  ['utf-8', `Grüß Gott! Ihr Bestätigungscode lautet ${code}. Geben Sie ihn niemandem weiter.`],
  ['utf-16le', `Hello Ada, your verification code is ${code}. Do not share it.`],
  [
    'windows-1252',
    `Bonjour, votre code de vérification est ${code}. Il expire à la fin de la journée.`,
  ],
  ['iso-8859-15', `Schöne Grüße! Ihr Bestätigungscode lautet: ${code}. Er gilt für zehn Minuten.`],
  ['windows-1251', `Здравствуйте! Ваш код подтверждения: ${code}. Никому его не сообщайте.`],
  ['windows-1251', `Ваш код подтверждения: ${code}`],
  ['koi8-r', `Здравствуйте! Ваш код подтверждения: ${code}. Никому его не сообщайте.`],
  ['iso-8859-5', `Здравствуйте! Ваш код подтверждения: ${code}. Никому его не сообщайте.`],
  ['ibm866', `Здравствуйте! Ваш пароль: ${code}. Никому его не сообщайте.`],
  [
    'windows-1250',
    `Váš ověřovací kód je ${code}. Platí deset minut, nikomu jej prosím nesdělujte. Děkujeme, žádné další kroky.`,
  ],
  [
    'iso-8859-2',
    `Twoje hasło jednorazowe to ${code}. Nie podawaj go nikomu, ponieważ służy do logowania się na Twoje konto.`,
  ],
  [
    'windows-1254',
    `Doğrulama kodunuz: ${code}\nŞifrenizi kimseyle paylaşmayın, giriş için gereklidir.`,
  ],
  [
    'windows-1257',
    `Jūsų patvirtinimo kodas: ${code}. Niekam jo nesakykite, prašome įvesti jį šiandien.`,
  ],
  ['windows-1253', `Ο κωδικός επαλήθευσης είναι ${code}. Μην τον δώσετε σε κανέναν.`],
  ['windows-1255', `קוד האימות שלך הוא ${code}. אין למסור אותו לאיש.`],
  ['windows-1256', `رمز التحقق الخاص بك هو ${code}. لا تشاركه مع أي شخص.`],
  ['windows-874', `รหัสยืนยันของคุณคือ ${code} กรุณาอย่าบอกรหัสนี้กับผู้อื่น`],
  ['shift_jis', `認証コードは${code}です。他人に教えないでください。`],
  ['euc-jp', `認証コードは${code}です。他人に教えないでください。`],
  ['iso-2022-jp', `認証コードは${code}です。他人に教えないでください。`],
  ['gb18030', `您的验证码是${code}，请勿告诉他人。`],
  ['big5', `您的驗證碼是${code}，請勿告訴他人。`],
  ['euc-kr', `인증번호는 ${code} 입니다. 다른 사람에게 알려주지 마세요.`],
]
const wrong = ['', 'utf-8', 'us-ascii', 'iso-8859-1', 'windows-1251', 'shift_jis', 'unknown-8bit']
const cases = texts.flatMap(([charset, text]) =>
  [charset, ...wrong].map((declared) => ({ charset, declared, text })),
)

test.each(cases)('$charset declared as "$declared": $text', ({ charset, declared, text }) => {
  const read = decodeText(encodeIn(charset, text), declared) ?? ''
  const [places = []] = findCodes({ subject: '', texts: [read] }).texts

  expect(read).toBe(text)
  expect(places.map(({ value }) => value)).toEqual([code])
})

test.each([
  ['text/plain', `Ваш код подтверждения: ${code}`],
  ['text/html', `<p>Ваш код подтверждения: <b>${code}</b></p>`],
])('a mail without a charset is read whole, its headers too: %s', async (type, body) => {
  const lines = ['From: Магазин <a@shop.example>', 'Subject: Ваш код', `Content-Type: ${type}`, '']

  const mail = await parseMail(encodeIn('windows-1251', [...lines, body].join('\r\n')))

  expect(mail).toMatchObject({ from: { name: 'Магазин' }, subject: 'Ваш код' })
  expect('text' in mail && mail.text.trim()).toBe(`Ваш код подтверждения: ${code}`)
})

test('a text in no charset is a file, not a text', async () => {
  const head = encodeIn('utf-8', 'From: a@shop.example\r\nContent-Type: text/plain\r\n\r\n')
  const noise = Uint8Array.from({ length: 64 }, (_, at) => (at % 2 === 0 ? 255 : 1 + (at % 7)))

  const mail = await parseMail(Uint8Array.from([...head, ...noise]))

  expect(mail).toMatchObject({ text: '', attachments: [{ reading: 'bytes' }] })
})

const ofLanguages: readonly [languages: string, charsets: string][] = [
  ['de fr es it pt nl sv da', 'windows-1252'],
  ['ru uk bg', 'windows-1251'],
  ['ru', 'koi8-r iso-8859-5 ibm866'],
  ['ja', 'shift_jis euc-jp iso-2022-jp'],
  ['zh', 'gb18030 big5'],
  ['ko', 'euc-kr'],
  ['pl cs hu sk', 'windows-1250 iso-8859-2'],
  ['tr', 'windows-1254'],
  ['el', 'windows-1253'],
  ['he', 'windows-1255'],
  ['ar', 'windows-1256'],
  ['th', 'windows-874'],
]

test('of mails of products in old charsets, none declared, at least 97 in a hundred are read', () => {
  const read = ofLanguages.flatMap(([languages, charsets]) =>
    charsets.split(' ').flatMap((charset) =>
      mails
        .filter(({ language }) => languages.split(' ').includes(language))
        .flatMap(({ text, html = '' }) => encodable(charset, text ?? html))
        .map(({ bytes, text }) => decodeText(bytes) === text),
    ),
  )

  expect(read.length).toBeGreaterThan(1_000)
  expect(read.filter(Boolean).length / read.length).toBeGreaterThanOrEqual(0.97)
})

/** Returns a text with its bytes, unless it is in ASCII or has a character that the charset has not. */
function encodable(charset: string, text: string) {
  try {
    return /^\p{ASCII}*$/u.test(text) ? [] : [{ text, bytes: encodeIn(charset, text) }]
  } catch {
    return []
  }
}
