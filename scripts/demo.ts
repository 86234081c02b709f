/**
 * Runs the call orders of the specification against a running local world and prints what happened.
 * It checks each payment against the balances on the chain, and ends with an error if one of them does
 * not match to the unit.
 */

import { openClient, readWorldFile, refusals } from './demo/client.ts'
import { payUnderMandate } from './demo/mandate.ts'
import { onboard } from './demo/onboard.ts'
import { payByAlias } from './demo/pay.ts'
import { useSecrets } from './demo/vault.ts'
import { payMerchant } from './demo/x402.ts'
import { earnYield } from './demo/yield.ts'
import { runFramed } from './program/frame.ts'

const help = `node scripts/demo.ts [--world .local/world.json]

Runs the call orders of the specification against a local world (npm start) and checks every payment
on its chain. Ends with 1 when anything is not as it must be.

--world  the file that npm start writes`

const options = { world: { type: 'string', default: '.local/world.json' } } as const

await runFramed(help, options, async ({ world: file }) => {
  const world = readWorldFile(file)
  const agent = openClient(world, world.api_keys.pay)
  await payByAlias(world, agent)
  await payMerchant(world, agent, { name: 'x402 version 2', url: world.merchant.v2_url })
  await payMerchant(world, agent, { name: 'x402 version 1', url: world.merchant.v1_url })
  await payUnderMandate(world, agent)
  await earnYield(world, agent)
  await useSecrets(world, agent)
  await onboard(world)
  await refusals(world)
  console.log('\nEverything is as it must be.')
  return 0
})
