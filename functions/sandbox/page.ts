/** The page that names what the sandbox sells, where, and how it is bought. */
import type { Config } from '../../shared/env.ts'
import { price, type TestOffer } from './offers.ts'

/** Describes the sandbox; `paths` are those of its reports. */
export function sandboxPage(
  { BASE_URL }: Pick<Config, 'BASE_URL'>,
  paths: readonly string[],
  offers: readonly TestOffer[],
) {
  const reports = paths.map((path) => `${BASE_URL}${path}`)
  const order = JSON.stringify({ resource_url: reports[0] })
  return {
    about: 'A merchant to try a purchase with. It sells one report, for test money only.',
    price,
    token: 'USDC',
    networks: offers.map(({ chain }) => chain.caip2),
    reports,
    funds: 'Test USDC is free at https://faucet.circle.com',
    buy: [
      'aoa demo',
      `curl ${BASE_URL}/x402-payment-prepare -H "Authorization: Bearer $AOA_API_KEY" -H 'Content-Type: application/json' -d '${order}'`,
    ],
    next: 'Send attempt_id of the answer to x402_payment_execute, with user_confirmed: true once your user has agreed.',
  }
}
