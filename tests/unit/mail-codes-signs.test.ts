/** A secret is sealed behind its name whatever signs, words or spaces set it apart; sentences are left. */
import { expect, test } from 'vitest'
import { sealPlaces } from '../../shared/mailbox/codes/code-places.ts'
import { findCodes } from '../../shared/mailbox/codes/codes.ts'
import { visibleText } from '../../shared/text/untrusted.ts'

const welcome = (line: string) => visibleText(`Hi Ada,\n\n${line}\n\nThanks,\nAcme`)
const placesIn = (line: string, subject: string) =>
  findCodes({ subject, texts: [welcome(line)] }).texts[0] ?? []
const sealed = (line: string, subject = 'Welcome') =>
  sealPlaces(welcome(line), placesIn(line, subject), () => 'x')

test.each([
  ['PIN#4829', '4829'],
  ['Your PIN#4829 is active now.', '4829'],
  ['OTP#482913', '482913'],
  ['Code/482913', '482913'],
  ['CODE…482913', '482913'],
  ['Password#sunflower', 'sunflower'],
  ['Password → äöü-Key9!', 'äöü'],
  ['Your password, Xk9Lm2Qp7, works until Friday.', 'Xk9Lm2Qp7'],
  ['Your password, hunter22, works until Friday.', 'hunter22'],
  ['Your password will be correct-horse-battery', 'horse'],
  ['Su contraseña será ubh0GdiZ. Cámbiela.', 'ubh0GdiZ'],
  ['Password = "Blue Moon 42"', 'Moon'],
  ['Log in with the password A^t[csF^=R7k at our site.', 'csF'],
])('behind a name, nothing is left of what follows in %j', (line, secret) => {
  expect(sealed(line)).not.toContain(secret)
})

test.each([
  ['Your password: 4 8 2 9 1 3'],
  ['Password: 4 8 2 9'],
  ['Your password is 4 8 2 9 1 3 until Friday'],
  ['API key: 4 8 2 9 1 3'],
  ['Your verification code is 12-34-56.'],
  ['Your PIN - 12-34-56'],
  ['Code – 48/29/13'],
  ['Please type the number from your phone as code: 482\n913'],
])('of digits written apart none is left in %j', (line) => {
  expect(sealed(line)).not.toMatch(/\d/)
})

test.each([
  ['Password: Blue Moon 42'],
  ['Mot de passe : Lune Bleue'],
  ['Password (temporary): Blue Moon'],
])('the short phrase that ends the line of a label is sealed whole: %j', (line) => {
  const [, words = ''] = /: ?(.*)$/.exec(line) ?? []

  expect(sealed(line)).toBe(welcome(line.replace(words, '[code x]')))
})

test.each([
  ['Username & password: ada & UvKbNvZPOc', 'UvKbNvZPOc'],
  ['The wifi is Home Net, password dwmpnhji.', 'dwmpnhji'],
])('of two values the secret is sealed: %j', (line, secret) => {
  expect(sealed(line)).not.toContain(secret)
})

test.each([
  ['Password: Blue Moon 42', 'Blue Moon 42'],
  ['Password: 4-8-2-9-1-3 until Friday', '482913'],
  ['Your code: 4.8.2.9.1.3', '482913'],
])('what is entered for %j is %j', (line, value) => {
  expect(placesIn(line, 'Welcome')).toMatchObject([{ kind: 'code', value }])
})

test.each([
  ['Your password: was changed on Friday'],
  ['Passwort: wurde geändert am Freitag'],
  ['Password: click here to reset'],
  ['Password: the one you chose'],
  ['Password: not shown'],
  ['Reset password: help@shop.example'],
  ['Forgot your password: help@shop.example'],
  ['Your password will be deleted.'],
  ['Your passwords (hashed) and your tokens are kept apart.'],
  ['Your API key "backup" was revoked.'],
  ['Your password, like your name, is case-sensitive.'],
  ['docker run -u 1000:1000 keeps files yours.'],
  ['The password was changed on 22 March\n2026.'],
  ['Enter by Friday to win 5000 points.'],
])('nothing is sealed in %j', (line) => {
  expect(sealed(line)).toBe(welcome(line))
})

test.each([
  'key=',
  'code#',
  'password (a ',
  'password: a, ',
  'username and password are ',
  'password: ab cd\n',
])('a mail full of %j takes about four times as long to search as a quarter of it', (piece) => {
  const [short, long] = [32_000, 128_000].map((length) => piece.repeat(length / piece.length))
  const costOf = (text = '') => {
    const before = process.threadCpuUsage()
    findCodes({ subject: 'Your code', texts: [text] })
    const { user, system } = process.threadCpuUsage(before)
    return user + system
  }

  // Some systems count the time of a thread in steps of 4 ms, of which only sums are right. Both lengths take turns, so
  // that a busy machine slows both.
  const rounds = Array.from({ length: 12 }, () => [costOf(short), costOf(long)] as const)
  const quarter = rounds.reduce((sum, [ofShort]) => sum + ofShort, 0)
  const whole = rounds.reduce((sum, [, ofLong]) => sum + ofLong, 0)

  // A search that is quadratic takes 16 times as long.
  expect(whole).toBeLessThan(10 * quarter)
})
