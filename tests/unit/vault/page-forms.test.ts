/** Forms of served pages are found, filled in and sent as a browser would. */
import { expect, test } from 'vitest'
import {
  codeFieldsIn,
  formsOf,
  loginFormsIn,
  nameFormIn,
} from '../../../shared/vault/sign-in/forms.ts'
import { submissionOf } from '../../../shared/vault/sign-in/submission.ts'

const page = new URL('https://shop.example.com/in/page?a=1')
const html = new Headers({ 'content-type': 'text/html; charset=utf-8' })
const read = (text: string) => formsOf(text, page, html)
const only = (text: string) => {
  const [form, ...others] = read(text)
  if (!form || others.length > 0) throw new Error('not one form')
  return form
}
const namesIn = (text: string) =>
  loginFormsIn(read(text), page.origin).map(({ password, username }) => [
    username?.name,
    password.name,
  ])

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
    own: [],
    isSignIn: false,
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
  {},
])('an answer with %j has no forms', (headers) => {
  expect(formsOf('<form><input name=a></form>', page, new Headers(headers))).toEqual([])
})

const form = (fields: string, more = 'method=post') => `<form ${more}>${fields}</form>`
const secret = '<input type=password name=p>'

test('a field for a password is found by its type alone, with the field for the user name before it', () => {
  expect(namesIn(form(`<input name=bio>${secret}`))).toEqual([['bio', 'p']])
  expect(
    namesIn(form(`<input name=tenant><input name=who autocomplete="username email">${secret}`)),
  ).toEqual([['who', 'p']])
  expect(namesIn(form(`<input name=tenant><input name=login_id><input name=x>${secret}`))).toEqual([
    ['login_id', 'p'],
  ])
  expect(namesIn(form(`<input name=a readonly><input name=b hidden>${secret}`))).toEqual([
    [undefined, 'p'],
  ])
})

test('of several fields for a password all that are seen are found, and hidden ones if there are no others', () => {
  const decoy = '<input type=password name=decoy style="display: none">'
  const fresh = '<input type=password name=new autocomplete=new-password>'

  expect(namesIn(form(decoy + secret + fresh))).toEqual([
    [undefined, 'p'],
    [undefined, 'new'],
  ])
  expect(namesIn(form(decoy))).toEqual([[undefined, 'decoy']])
  expect(namesIn(form(secret.repeat(9)))).toHaveLength(4)
})

test('a form that is sent by GET or to another site takes no password', () => {
  expect(namesIn(form(secret, ''))).toEqual([])
  expect(namesIn(form(secret, 'method=post action=https://evil.example/'))).toEqual([])
})

test('the first page of a sign-in on two pages has a form for the user name alone', () => {
  const named = (text: string) => nameFormIn(read(text), page.origin)?.username.name

  expect(named(form('<input name=q>', '') + form('<input type=email name=e>'))).toBe('e')
  expect(
    named(form('<input name=news type=email>') + form('<input name=u autocomplete=username>')),
  ).toBe('u')
  expect(named(form(secret))).toBeUndefined()
  expect(named(form('<input type=checkbox name=c>'))).toBeUndefined()
})

test.each([
  ['<input name=otp>', true],
  ['<input name="user[otp_attempt]" autocomplete=one-time-code>', true],
  ['<input name=x autocomplete=one-time-code>', true],
  ['<input name=x inputmode=numeric><input type=checkbox name=trust><button>Go</button>', true],
  ['<input name=x pattern="[0-9]{6}">', true],
  ['<input name=verificationCode type=hidden><input name=verificationCode>', true],
  ['<input name=status>', false],
  ['<input name=x autocomplete=one-time-code><input name=bio>', false],
  ['<input name=otp value=1>', undefined],
  ['<input name=otp><input name=bio>', undefined],
  ['<textarea name=otp></textarea>', undefined],
  ['<input type=checkbox name=otp>', undefined],
  ['<input name=d maxlength=1 inputmode=numeric>'.repeat(6), true],
  ['<input name=d maxlength=1>'.repeat(6), false],
])('in a form of %s it is known whether a code belongs there unasked', (fields, expected) => {
  expect(codeFieldsIn(only(form(fields)))?.isMarked).toBe(expected)
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
