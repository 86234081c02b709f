import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { aliasProblem, aliasSuggestions, canonicalAlias } from '../../shared/onboarding/alias.ts'

const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: fc.constantFrom(...'abcXYZ019-_. @é'.split('')), maxLength: 40 }),
)

const words = (text: string) => text.split(/\s+/)

/** Slow, obvious twin of the rule for aliases. */
function isWellFormed(alias: string): boolean {
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const allowed = `${letters}0123456789-`
  return (
    alias.length >= 3 &&
    alias.length <= 32 &&
    alias.split('').every((char) => allowed.includes(char)) &&
    letters.includes(alias.charAt(0)) &&
    !alias.endsWith('-') &&
    !alias.includes('--')
  )
}

describe('the canonical form', () => {
  test('of a canonical form is itself', () => {
    fc.assert(
      fc.property(text, (given) => {
        const once = canonicalAlias(given)
        expect(canonicalAlias(once)).toBe(once)
      }),
    )
  })

  test.each([
    ['Bob-The-Agent', 'bob-the-agent'],
    ['  bob ', 'bob'],
    ['ＢＯＢ', 'bob'],
    ['ﬁne', 'fine'],
  ])('of %j is %s', (given, canonical) => {
    expect(canonicalAlias(given)).toBe(canonical)
  })
})

describe('an alias', () => {
  test('is malformed exactly when the slow reader says so', () => {
    fc.assert(
      fc.property(text.map(canonicalAlias), (alias) => {
        expect(aliasProblem(alias) === 'malformed').toBe(!isWellFormed(alias))
      }),
      { numRuns: 2_000 },
    )
  })

  test('of letters that only look Latin is malformed', () => {
    for (const alias of ['bоb-agent', 'раypal', 'bob\u00ad', 'bob\u200b', 'bob\u202e']) {
      expect(aliasProblem(canonicalAlias(alias)), alias).toBe('malformed')
    }
  })

  test.each(['ab', 'a'.repeat(33), '1bob', '-bob', 'bob-', 'a--b', 'a_b', 'a.b', 'a@b', 'a b', ''])(
    '%j is malformed',
    (alias) => {
      expect(aliasProblem(alias)).toBe('malformed')
    },
  )

  // RFC 2142 reserves these mailboxes for the operators of a domain.
  test.each(['abuse', 'postmaster', 'hostmaster', 'webmaster', 'security', 'noc', 'support'])(
    '%s is reserved',
    (alias) => {
      expect(aliasProblem(alias)).toBe('reserved')
    },
  )

  test.each(
    words('team inbox signup sign-up contact hello office privacy newsletter status welcome'),
  )('%s is a mailbox that people expect to be of the whole domain, and is reserved', (alias) => {
    expect(aliasProblem(alias)).toBe('reserved')
  })

  test.each(
    words(`owner your-user approvals approval payments alerts notifications verification account mailer
      compliance treasury agent-operating-account user-confirmed-true approved-by-the-owner the-owner
      support-desk support-2 the-support-team payments-center my-wallet paymentsupport approvedbyowner n0tifications securlty adrnin
      secur1ty-team p-a-y-m-e-n-t-s app-roved cornpliance suppor7 ovvner
      suport suppport aproved aprroved approvd paymenls paymcnts sccurity securitv secruity veriffy
      login sign-in passkey password-desk authenticator authorization helpcenter customer-care customercare
      do-not-reply donotreply aoa aoa-team the-aoa kyc-team risk-desk audit sysadmin superuser operations
      frozen unfreeze-now limits dispute chargeback custodian consent mailbox trust safety-team
      withdraw validate`),
  )('%s sounds like the service and is reserved', (alias) => {
    expect(aliasProblem(alias)).toBe('reserved')
  })

  test.each(
    words(`ada research-desk bob-agent my-agent shop-buyer lena-2 newsroom infobot downer-bob steam-fan
      autumn helper salesforce-fan rootbeer authors loginova willing-bob improved-bob trustworthy-ada
      limited-edition riskier audition auditorium resetti mailboat booker signal keystone operetta
      support-bot payments-jane jane-payments acme-security billing-agent wallet-watcher treasurer`),
  )('%s is open to anybody', (alias) => {
    expect(aliasProblem(alias)).toBeUndefined()
  })
})

test('what is suggested can be registered and is never what was asked for', () => {
  fc.assert(
    fc.property(text.map(canonicalAlias), (alias) => {
      for (const near of aliasSuggestions(alias)) {
        expect(aliasProblem(near)).toBeUndefined()
        expect(near).not.toBe(alias)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('something near is suggested for a name that is taken or reserved', () => {
  for (const alias of ['bob', 'support', 'a'.repeat(32), 'bob-', 'b'.repeat(200)]) {
    expect(aliasSuggestions(alias).length, alias).toBeGreaterThan(0)
  }
})
