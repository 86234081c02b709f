/** Base facts and mandates for tests of the policy, and helpers for amounts. */
import type { Facts } from '../../shared/policy/facts.ts'
import type { Mandate } from '../../shared/policy/mandate.ts'
import { noHistory } from '../../shared/policy/memory.ts'

export const usd = (dollars: number) => BigInt(dollars) * 1_000_000n
export const noon = new Date('2026-09-01T12:00:00Z')

const window = (limit: number) => ({ limit: usd(limit), spent: 0n, resetsAt: null })

/** Facts of a new account that pays a known recipient from a known device. */
export const usual: Facts = {
  kind: 'transfer',
  amountUsdMicros: usd(5),
  host: null,
  chain: 84532,
  token: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  payTo: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  verifiedWithMerchant: false,
  otherResource: false,
  deviceKnown: true,
  similarRecipient: null,
  history: noHistory,
  automaticDaily: window(200),
  assertedDaily: window(200),
  dailySpendingCap: window(1000),
  monthlySpendingCap: window(30_000),
  assertedNewRecipient: window(10),
  credentialPaymentCap: null,
  credentialDaily: null,
  recipientKnown: true,
  userConfirmed: false,
  ownerApproved: null,
  passesDailyCap: false,
  hasPasskey: false,
  mandates: [],
  now: noon,
}

/** Facts of the same account buying from a merchant. */
export const purchase: Facts = {
  ...usual,
  kind: 'x402',
  host: 'shop.example.com',
  verifiedWithMerchant: true,
}

/** An active mandate for that merchant that was never used. */
export const mandate: Mandate = {
  id: 'b0000000-0000-4000-8000-000000000001',
  state: 'active',
  payer: 'asker',
  merchantDomain: 'shop.example.com',
  includeSubdomains: false,
  maxPaymentUsdMicros: usd(5),
  maxDayUsdMicros: usd(20),
  maxTotalUsdMicros: usd(100),
  maxPayments: 50,
  chains: null,
  tokens: null,
  payTo: null,
  expiresAt: new Date('2026-10-01T12:00:00Z'),
  spentDayUsdMicros: 0n,
  spentTotalUsdMicros: 0n,
  payments: 0,
  dayResetsAt: null,
}
