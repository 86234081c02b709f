/** Forms of served pages are found, filled in and sent as a browser would. */
import { expect, test } from 'vitest'
import {
  codeField,
  isFirstStep,
  passwordField,
  usernameField,
} from '../../../shared/vault/sign-in/fields.ts'
import { formsOf } from '../../../shared/vault/sign-in/page-forms.ts'
import { submissionOf } from '../../../shared/vault/sign-in/submission.ts'

const page = new URL('https://shop.example.com/in/page?a=1')
const html = new Headers({ 'content-type': 'text/html; charset=utf-8' })
const read = (text: string) => formsOf(text, page, html)
const only = (text: string) => {
  const [form, ...others] = read(text)
  if (!form || others.length > 0) throw new Error('not one form')
  return form
}
const inputOf = (name: string, more = '') =>
  only(`<form method=post><input type=password name="${name}" ${more}></form>`)

test('a form is read as a browser reads it', () => {
  const form = only(`<FORM Method=POST action='/a&amp;b?c=1#d' id=f>
    <input name=t value="&quot;1"><input type=hidden name=h value=2><input name=off value=x disabled>
    <input type=checkbox name=c><input type=checkbox name=d value=3 checked><input type=file name=file>
    <input type=radio name=r value=1><input type=radio name=r value=2 checked>
    <select name=s><option value=1>One<option selected>Two</select><select name=e></select>
    <textarea name=a>
 <form>&lt;</textarea><button>no name</button><button name=go value=1>Go</button>
    <button name=go2 formaction=/other>Other</button><input value="no name"></FORM>
    <input form=f name=late value=4><input name=outside value=5>`)

  const sent = submissionOf('https://shop.example.com', form, {
    fields: { t: 'typed', c: 'on' },
    secrets: [],
  })

  expect(sent).toMatchObject({ method: 'POST' })
  expect('url' in sent && sent.url.href).toBe('https://shop.example.com/a&b?c=1')
  expect('body' in sent && [...new URLSearchParams(sent.body)]).toEqual([
    ['t', 'typed'],
    ['h', '2'],
    ['c', 'on'],
    ['d', '3'],
    ['r', '2'],
    ['s', 'Two'],
    ['a', ' <form>&lt;'.replace('&lt;', '<')],
    ['go', '1'],
    ['late', '4'],
  ])
})

test.each([
  ['a script', `<script>"<form method=post><input type=password name=password></form>"</script>`],
  ['a comment', '<!-- <form><input type=password name=password></form> -->'],
  ['the text of a field', '<textarea><form><input name=a></form></textarea>'],
  ['a title', '<title><form><input name=a></form></title>'],
  ['a template', '<template><form><input name=a></form></template>'],
  ['another document', '<iframe srcdoc="<form><input name=a></form>"></iframe>'],
  ['the value of another element', `<img alt='<form><input name=a></form>'>`],
])('what stands in %s is no form', (_, text) => {
  expect(read(text)).toEqual([])
})

test.each([
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json' },
  { 'content-type': 'image/svg+xml' },
  { 'content-type': 'text/html', 'content-disposition': 'attachment; filename=a.html' },
  { 'content-type': 'text/html', 'content-security-policy': "default-src 'self'; sandbox" },
  { 'content-type': 'text/html', 'content-security-policy': "form-action 'none'" },
  {},
])('an answer with %j has no forms', (headers) => {
  expect(formsOf('<form><input name=a></form>', page, new Headers(headers))).toEqual([])
})

test.each([
  'password',
  'user[password]',
  'Passwd',
  'pwd',
  'loginPassword',
  'ctl00$Main$LoginPassword',
])('the field %s is one for the password', (name) => {
  expect(passwordField(inputOf(name))).toMatchObject({ isNamedSo: true })
})

test.each([
  'bio',
  'text',
  'comment[body]',
  'meeting_password',
  'smtp_password',
  'password2',
  'passwords',
  '',
])('the field %j is none that is filled in unasked', (name) => {
  expect(passwordField(inputOf(name))?.isNamedSo ?? false).toBe(false)
})

test('a field for a new password, and one of two, is none for the password', () => {
  const two = '<input type=password name=password><input type=password name=again>'

  expect(
    passwordField(inputOf('password', 'autocomplete="section-a new-password"')),
  ).toBeUndefined()
  expect(passwordField(only(`<form method=post>${two}</form>`))).toBeUndefined()
})

test.each([
  ['otp', '', true],
  ['user[otp_attempt]', 'autocomplete=one-time-code', true],
  ['my_second_word', 'autocomplete=one-time-code', false],
  ['app_otp', 'autocomplete=one-time-code', true],
  ['verificationCode', '', true],
  ['code', '', true],
  ['twofa_code', '', true],
  ['2fa_code', '', true],
  ['twofactor[code]', '', true],
  ['mfacode', '', true],
  ['giftcode', '', undefined],
  ['promo_code', '', undefined],
  ['text', 'autocomplete=one-time-code', false],
  ['zip', '', undefined],
])('of the field %s with %j it is known whether it asks for a code', (name, more, expected) => {
  const form = only(`<form method=post><input name="${name}" ${more}></form>`)

  expect(codeField(form)?.isNamedSo).toBe(expected)
})

test('the user name goes into the field that is marked, called or placed for it', () => {
  const of = (fields: string) =>
    usernameField(only(`<form method=post>${fields}<input type=password name=p></form>`))?.name

  expect(of('<input name=tenant><input name=who autocomplete="username email">')).toBe('who')
  expect(of('<input name=tenant><input name=login_id>')).toBe('login_id')
  expect(of('<input name=realm><input name=x>')).toBe('x')
  expect(isFirstStep(only('<form method=post action=/signin><input name=email></form>'))).toBe(true)
  expect(isFirstStep(only('<form method=post action=/news><input name=email></form>'))).toBe(false)
})

/** Prefixes and parts of markup that long pages can consist of. */
const pieces = [
  '<form>',
  '<form method=post><input name=a>',
  '<input name=a value="',
  '<select><option>',
  '<textarea>',
  '</textarea',
  '<!--',
  '<a b=',
  '&#x41;',
  '<base href=/a>',
  'x ',
]

test.each(pieces)('pages full of %j are read in time in proportion to their length', (piece) => {
  const timed = (length: number) => {
    const text = piece.repeat(length / piece.length)
    const began = process.cpuUsage()
    read(text)
    return process.cpuUsage(began).user / 1_000
  }
  const isInProportion = () => {
    const [short, long] = [timed(131_072), timed(1_048_576)]
    // Eight times the length takes 8 times as long in linear time, and 64 times in quadratic time.
    return long < 20 * short + 50 && long < 1_000
  }

  // Compiling and collecting garbage fall into some rounds and not into others.
  expect(Array.from({ length: 20 }).some(isInProportion)).toBe(true)
})
