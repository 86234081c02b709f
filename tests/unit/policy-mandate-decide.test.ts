import { describe, expect, test } from 'vitest'
import { type Decision, decide } from '../../shared/policy/decide.ts'
import type { Facts } from '../../shared/policy/facts.ts'
import { noHistory } from '../../shared/policy/memory.ts'
import { mandate, purchase, usd, usual } from '../support/policy.ts'

const deciding = (facts: Partial<Facts>) => decide({ ...usual, ...facts })
const codesOf = (decision: Decision) =>
  decision.verdict === 'allow' ? [] : decision.reasons.map(({ code }) => code)

describe('under a mandate', () => {
  const covered = { ...purchase, mandates: [mandate], recipientKnown: false }
  const carried = { verdict: 'allow', consentLevel: 'mandate', mandateId: mandate.id }

  test('a new recipient is paid with nobody asked, before what needs less is used up', () => {
    expect(deciding(covered)).toEqual(carried)
    expect(deciding({ ...covered, recipientKnown: true })).toEqual(carried)
    expect(deciding({ ...covered, userConfirmed: true })).toEqual(carried)
  })

  test('the approval of this very payment goes first', () => {
    const approved = { userConfirmed: true, ownerApproved: 'user_passkey' as const }
    expect(deciding({ ...covered, ...approved })).toMatchObject({ consentLevel: 'user_passkey' })
  })

  test('the daily cap holds, and the mandate is not what is in the way', () => {
    const decision = deciding({
      ...covered,
      dailySpendingCap: { limit: usd(1000), spent: usd(996), resetsAt: null },
    })
    expect(decision).toMatchObject({ verdict: 'refuse', mandates: [] })
  })

  test('what it does not cover is asked about, with the rule that fails', () => {
    const history = { ...noHistory, payees: ['0xB2'] }
    const decision = deciding({ ...covered, history })
    expect(decision).toMatchObject({
      verdict: 'confirm',
      neededLevel: 'agent_asserted',
      mandates: [{ mandateId: mandate.id, reasons: [{ code: 'changed_payee' }] }],
    })
    expect(codesOf(decision)).toEqual(['new_recipient', 'changed_payee'])
  })
})

test.each([
  ['another payee', { payees: ['0xB2'] }, 'changed_payee'],
  ['another token', { assets: [{ chain: purchase.chain, token: '0xC3' }] }, 'changed_asset'],
  ['over twice the price', { highestUsdMicros: usd(5) / 2n - 1n }, 'unusual_price'],
] as const)(
  '%s than before is asked about once, and a confirmation carries it',
  (_n, past, code) => {
    const changed = { ...purchase, history: { ...noHistory, ...past } }
    expect(codesOf(deciding(changed))).toEqual([code])
    const confirmed = deciding({ ...changed, userConfirmed: true })
    expect(confirmed).toEqual({ verdict: 'allow', consentLevel: 'agent_asserted' })
  },
)

test('a resource on another host is never paid with nobody asked', () => {
  const decision = deciding({ ...purchase, mandates: [mandate], otherResource: true })
  expect(decision).toMatchObject({ verdict: 'confirm', neededLevel: 'agent_asserted' })
  expect(codesOf(decision)).toEqual(['other_resource'])
})

test('the owner of an account with a passkey is asked for it', () => {
  const large = { amountUsdMicros: usd(300), hasPasskey: true }
  expect(deciding(large)).toMatchObject({ verdict: 'confirm', neededLevel: 'user_passkey' })
})
