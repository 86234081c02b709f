import { expect, test } from 'vitest'
import * as access from '../../shared/mail/access-messages.ts'
import * as address from '../../shared/mail/address-messages.ts'
import * as closing from '../../shared/mail/closing-messages.ts'
import * as money from '../../shared/mail/money-messages.ts'
import * as signUp from '../../shared/mail/sign-up-messages.ts'
import * as waiting from '../../shared/mail/waiting-message.ts'

const messages = { ...signUp, ...access, ...address, ...closing, ...money, ...waiting }
const webUrl = 'https://api.example.com/web'
const hostile =
  'x"><img src=//evil.example>\r\nBcc: all@evil.example\u202etxt https://evil.example/a www.evil.example/b'
const deed = { at: new Date('2026-11-21T12:00:00Z'), device: hostile, client: hostile }
/** Returns one mail of each kind; `name` stands for any amount, address, site or label of an owner. */
const samples = (name: string) => [
  messages.signUpCode({ code: '482913', minutes: 10 }),
  messages.alreadyHaveAccount(webUrl),
  messages.newSignIn(webUrl, { ...deed, method: name }),
  messages.newApiKey(webUrl, { ...deed, label: name, scope: 'pay' }),
  messages.secretsReadable(webUrl, { ...deed, label: name }),
  messages.codesReadable(webUrl, deed),
  messages.appConnected(webUrl, { ...deed, host: name, scope: 'pay' }),
  messages.appRaised(webUrl, { ...deed, host: name, scope: 'pay', caps: { 'In 24 hours': name } }),
  messages.appTokenReused(webUrl, { host: name }),
  messages.siteFirstUsed(webUrl, { site: name, at: deed.at }),
  messages.loginEntered(webUrl, { ...deed, site: name }),
  messages.moreNotices(webUrl, { topic: 'approval_wanted', notices: 3, since: deed.at }),
  messages.newPushDevice(webUrl, deed),
  messages.notificationTest(webUrl),
  messages.newPasskey(webUrl, { ...deed, label: name }),
  messages.passkeyRemoved(webUrl, { ...deed, label: name }),
  messages.passwordChanged(webUrl, deed),
  messages.recoveryUsed(webUrl, deed),
  messages.passkeyRemovalBegun(webUrl, { ...deed, label: name }),
  messages.recoveryBegun(webUrl, deed),
  messages.holdEnded(webUrl, deed),
  messages.recoveryCodesMade(webUrl, deed),
  messages.accountSecured(webUrl, deed),
  messages.accountClosed(webUrl, { ...deed, until: deed.at }),
  messages.accountReopened(webUrl, deed),
  messages.mailAddressCode({ code: '482913', minutes: 60 }),
  messages.mailAddressAsked(webUrl, { ...deed, email: name }),
  messages.mailAddressConfirmed(webUrl, { ...deed, email: name, from: deed.at }),
  messages.mailAddressAwaited(webUrl, { alias: name, from: deed.at }),
  messages.mailAddressChanged(webUrl, { alias: name, email: name }),
  messages.mailAddressKept(webUrl, { email: name }),
  messages.mailAddressStopped(webUrl, deed),
  messages.approvalWanted({
    amount: name,
    payee: name,
    address: name,
    purpose: name,
    asker: name,
    note: name,
    expiresAt: deed.at,
    url: `${webUrl}/approvals/1`,
  }),
  messages.mandateWanted({ merchant: name, caps: name, asker: name, url: `${webUrl}/mandate/1` }),
  messages.accountFrozen(webUrl, deed),
  messages.accountUnfrozen(webUrl, deed),
  messages.limitsRaised(webUrl, { ...deed, changes: { 'Daily cap': name } }),
  messages.mandateApproved(webUrl, { ...deed, terms: name, isForAnyKey: true, mandate: '1' }),
  messages.moneySent(webUrl, { ...deed, amount: '1.00 USDC', label: name, address: '0x1' }),
  messages.moneyUnaccounted(webUrl, {
    ...deed,
    amount: name,
    recipient: name,
    transaction: name,
  }),
  messages.recipientTrusted(webUrl, { ...deed, label: name, address: name }),
]
const all = samples(hostile)

test('every message has a sample here', () => {
  const makers = Object.values(messages).filter((one) => typeof one === 'function')
  expect(all).toHaveLength(makers.length)
  expect(new Set(all.map(({ subject }) => subject)).size).toBe(all.length)
})

test.each(samples('shop'))(
  '$topic holds no free words of a browser, a program or an app',
  (mail) => {
    for (const words of [mail.subject, mail.text, mail.html]) {
      expect(words).not.toMatch(/evil|Bcc|txt/)
    }
  },
)

test.each(all)('$topic loads nothing, runs nothing and is in no way markup of others', (mail) => {
  const tags = [...mail.html.matchAll(/<[^>]*>/g)].map(([tag]) => tag).join('')

  expect(tags).not.toMatch(/<(img|script|link|style|iframe|form)|src=|url\(| on[a-z]+=/i)
  expect([...mail.html.matchAll(/href="([^"]+)"/g)].map(([, href]) => href)).toSatisfy(
    (links: string[]) => links.every((link) => link.startsWith(webUrl)),
  )
})

test.each(all)('$topic has a subject of one line, whatever others called themselves', (mail) => {
  expect(mail.subject).toMatch(/^[^\p{Cc}\p{Cf}]{5,200}$/u)
  expect(mail.text).not.toMatch(/\r|\u202e/)
  expect(mail.text.split('\n').filter((line) => line.startsWith('Bcc'))).toEqual([])
})

test.each(all)('$topic holds nothing of others that a mail program makes a link of', (mail) => {
  const ours = new RegExp(`^${webUrl}\\S*$|<small>[^<]*</small>|<[^>]*>`, 'gm')

  for (const words of [mail.subject, mail.text, mail.html].map((part) => part.replace(ours, ''))) {
    expect(words).not.toMatch(/:\/\/|[^\s\d][.\u3002\uff0e\uff61][\p{L}\p{N}]|\S@\S/u)
  }
})

test.each([
  ['https://evil.example/x', 'evil[.]example/x'],
  ['evil\u2024example', 'evil[.]example'],
  ['evil\u3002example', 'evil[.]example'],
  ['evil\uff0eexample', 'evil[.]example'],
  ['evil.\u0301example', 'evil[.]\u0301example'],
  ['https\uff1a//evil.zip', 'https: //evil[.]zip'],
  ['24.de', '24[.]de'],
  ['192.0.2.1/login', '192.0.2[.]1/login'],
  ['192.0.2.1:8443', '192.0.2[.]1:8443'],
  ['a\uff20b.example', 'a[at]b[.]example'],
  ['mailto:a@b.example', 'mailto: a[at]b[.]example'],
  ['tel:+19005550199', 'tel: +1900555[0199]'],
  ['call +1 900 555 0199 now', 'call +1 900 555 [0199] now'],
  ['(900) 555-0199', '(900) 555-[0199]'],
  ['1-900-555-0199', '1-900-555-[0199]'],
  ['bitcoin:bc1q', 'bitcoin: bc1q'],
])('%j as a name of others stands in a mail as %j', (name, shown) => {
  const { text, html } = messages.appTokenReused(webUrl, { host: name })

  expect(text).toContain(`Host: ${shown}\n`)
  expect(html).toContain(`${shown}</td>`)
  expect(html).toContain('content="telephone=no,email=no,address=no,date=no,url=no"')
})

test('figures, times and network addresses stand in a mail as they are', () => {
  const { text } = messages.newSignIn(webUrl, {
    at: deed.at,
    device: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    client: '2001:db8::1',
    method: '0.50 USDC',
  })

  expect(text).toMatch(/0\.50 USDC\nWhen: 2026-11-21 12:00 UTC\nDevice: Firefox on Linux\n/)
  expect(text).toContain('IP address: 2001:db8::1')
})

test.each(all)('$topic says the same as text and as HTML', (mail) => {
  const words = (text: string) => text.replaceAll(/[^\p{L}\p{N}]+/gu, '')
  const fromHtml = mail.html
    .replace(/^[\s\S]*<\/h1>/, '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '')
    .replaceAll(/&(lt|gt|#39|amp);/g, '')

  expect(words(fromHtml)).toBe(words(mail.text))
})

test('a mail about an active mandate says whose it is', () => {
  const textFor = (isForAnyKey: boolean) =>
    messages.mandateApproved(webUrl, { ...deed, terms: 'All of them', isForAnyKey, mandate: '1' })
      .text

  expect(textFor(true)).toContain('For: Any key or app of the account that may pay\n')
  expect(textFor(false)).toContain('For: The key or app that asked for it\n')
})

test('a code stands alone on its line', () => {
  expect(messages.signUpCode({ code: '482913', minutes: 10 }).text).toMatch(/^ {4}482913$/m)
})
