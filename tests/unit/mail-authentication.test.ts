import fc from 'fast-check'
import { expect, test } from 'vitest'
import { authenticationOf } from '../../shared/mailbox/receive/authentication.ts'

const nothing = { spf: 'absent', dkim: 'absent', dmarc: 'absent', provenDomain: undefined }
const trusted = { trustedServer: 'mx.agents.example', author: 'no-reply@login.bank.co.uk' }

function read(...values: string[]) {
  const headers = values.map((value) => ({ name: 'authentication-results', value }))
  return authenticationOf([{ name: 'received', value: 'x' }, ...headers], trusted)
}

const spf = 'spf=pass smtp.mailfrom=bounce@mail.bank.co.uk'
const dkim = 'dkim=pass header.d=bank.co.uk header.s=s1'
const dmarc = 'dmarc=pass (p=REJECT; sp=none) header.from=login.bank.co.uk'

test.each([
  ['an aligned signature', dkim],
  ['an aligned envelope', spf],
  ['DMARC for the author', dmarc],
  ['a signer named by its identity', 'dkim=pass header.i=@news.bank.co.uk'],
  [
    'several signatures beside a result of DMARC',
    `dkim=pass header.d=mailer.com; ${dkim}; dmarc=pass header.from=login.bank.co.uk`,
  ],
  ['comments, quotes and spaces', 'DKIM = PASS (2048; "x\\)") header.d = "bank.co.uk" ; none'],
])('%s proves the registrable domain of the author', (_what, results) => {
  expect(read(`mx.agents.example; ${results}`).provenDomain).toBe('bank.co.uk')
})

test.each([
  ['one signature of two', `dkim=fail header.d=bank.co.uk; ${dkim}`],
  ['a signature that stands twice', `${dkim}; ${dkim}`],
  ['a sender that stands twice', 'spf=pass smtp.mailfrom=bank.co.uk; spf=none'],
  ['a signature of another domain', 'dkim=pass header.d=mailer.example'],
  ['a signature of a public suffix', 'dkim=pass header.d=co.uk'],
  ['a domain that only begins alike', 'dkim=pass header.d=bank.co.uk.evil.example'],
  ['a domain that only ends alike', 'dkim=pass header.d=notbank.co.uk'],
  ['an envelope of another', 'spf=pass smtp.mailfrom=a@evil.example'],
  ['an envelope by the name of the client', 'spf=pass smtp.helo=bank.co.uk'],
  ['DMARC for another author', 'dmarc=pass header.from=evil.example'],
  ['what passed though DMARC failed', `${dkim}; dmarc=fail header.from=login.bank.co.uk`],
  ['DMARC that was found twice', `dmarc=none header.from=login.bank.co.uk; ${dmarc}`],
  ['what did not pass', 'dkim=fail header.d=bank.co.uk; spf=softfail smtp.mailfrom=bank.co.uk'],
  ['a result within a comment', `(dkim=pass header.d=bank.co.uk) none`],
  ['a result within a quoted reason', 'dkim=fail reason="; dkim=pass header.d=bank.co.uk"'],
  ['a property within a quoted reason', 'spf=pass reason="x smtp.mailfrom=bank.co.uk"'],
  ['a property that is quoted', 'spf=pass "smtp.mailfrom=bank.co.uk"'],
  ['a property that stands twice', 'dkim=pass header.d=evil.example header.d=bank.co.uk'],
  ['another version', `2; ${dkim}`],
])('%s proves nothing', (_what, results) => {
  const value = /^\d/.test(results)
    ? `mx.agents.example ${results}`
    : `mx.agents.example; ${results}`
  expect(read(value).provenDomain).toBeUndefined()
})

test('takes the verdicts of each method', () => {
  const value = `mx.agents.example 1; spf=softfail smtp.mailfrom=x; dkim=temperror; dmarc=none`
  expect(read(value)).toEqual({
    spf: 'fail',
    dkim: 'error',
    dmarc: 'none',
    provenDomain: undefined,
  })
})

test('believes nobody but the trusted server, and only at the top', () => {
  const own = `mx.agents.example; ${dkim}`

  expect(read()).toEqual(nothing)
  expect(read(`mx.evil.example; ${dkim}`, own)).toEqual(nothing)
  expect(read(`mx.agents.example.evil.example; ${dkim}`)).toEqual(nothing)
  expect(read('mx.agents.example; none', own)).toEqual(nothing)
})

test.each([
  'mx.agents.example; dkim=fail',
  'MX.agents.example; none',
  '(a comment; of the sender) mx.agents.example; none',
  'mx.agents.example 2; none',
  'mx.agents.example; none (never closed',
  `mx.agents.example; none ${'('.repeat(20_000)}`,
])('believes none of several headers that bear the name of the trusted server: %s', (another) => {
  const own = `mx.agents.example; ${dkim}`

  expect(read(own, another)).toEqual(nothing)
  expect(read(own, 'mx.elsewhere.example; none', another)).toEqual(nothing)
})

test('believes the trusted server beside headers of others, whatever they say of it', () => {
  const own = `mx.agents.example; ${dkim}`
  const named = 'mx.elsewhere.example; spf=pass smtp.mailfrom=a@mx.agents.example'

  expect(read(own, named, 'mx.agents.example.evil.example; none').provenDomain).toBe('bank.co.uk')
})

test.each([
  `mx.agents.example; ${dkim} (`,
  `mx.agents.example; ${dkim})`,
  `mx.agents.example; "${dkim}`,
])('does not read on where %s is broken', (value) => {
  expect(read(value)).toEqual(nothing)
})

test('never throws, and proves the domain of the author or nothing', () => {
  const piece = fc.constantFrom(
    ...`mx.agents.example ; dkim=pass header.d=bank.co.uk header.from=login.bank.co.uk ( ) " \\ =`.split(
      ' ',
    ),
    ' ',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      expect([undefined, 'bank.co.uk']).toContain(read(pieces.join('')).provenDomain)
    }),
    { numRuns: 1_000 },
  )
})
