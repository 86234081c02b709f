/** Measures the decision whether one of an account's mandates covers a payment. */
import { bestCover, type CoverRequest, type Mandate } from '../../shared/policy/mandate.ts'
import { noHistory } from '../../shared/policy/memory.ts'
import { type Figure, median, quantile } from './report.ts'

const count = 1_000
const runs = 2_000
const now = new Date('2026-09-01T12:00:00Z')

const request: CoverRequest = {
  kind: 'x402',
  amountUsdMicros: 1_000_000n,
  host: 'api.shop7.example.com',
  chain: 84532,
  token: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  payTo: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  verifiedWithMerchant: true,
  otherResource: false,
  deviceKnown: true,
  similarRecipient: null,
  history: noHistory,
}

/** Returns active mandates, either for one merchant each or all for the merchant that is paid. */
function mandatesFor(domainOf: (at: number) => string): Mandate[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `b0000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
    state: 'active',
    payer: 'asker',
    merchantDomain: domainOf(at),
    includeSubdomains: true,
    maxPaymentUsdMicros: 5_000_000n,
    maxDayUsdMicros: 20_000_000n,
    maxTotalUsdMicros: 100_000_000n,
    maxPayments: 100,
    chains: [84532],
    tokens: [request.token],
    payTo: at % 2 === 0 ? null : [request.payTo],
    expiresAt: new Date(now.getTime() + 1_000 * (count - at)),
    spentDayUsdMicros: 0n,
    spentTotalUsdMicros: 0n,
    payments: 0,
    dayResetsAt: null,
  }))
}

/** Measures the decision over 1,000 active mandates; the product runs nothing else for it. */
export async function benchMandates(): Promise<Figure[]> {
  return [
    timed('one merchant each', (at) => `shop${at}.example.com`),
    timed('all of one merchant', () => 'shop7.example.com'),
  ]
}

function timed(name: string, domainOf: (at: number) => string): Figure {
  const mandates = mandatesFor(domainOf)
  const milliseconds = Array.from({ length: runs }, () => {
    const start = performance.now()
    if (!bestCover(mandates, request, now)) throw new Error('no mandate covers')
    return performance.now() - start
  })
  return {
    name: `ms to decide over ${count} mandates, ${name}`,
    value: median(milliseconds),
    target: 1,
    detail: { p95: quantile(milliseconds, 0.95), p99: quantile(milliseconds, 0.99) },
  }
}
