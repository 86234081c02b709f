/**
 * The official x402 facilitator for the local chains: @x402/core with the exact scheme of @x402/evm,
 * protocol versions 1 and 2. It verifies and settles with its own funded key. No code of the product
 * runs in it, so a payment that it settles would settle outside as well.
 */
import { x402Facilitator } from '@x402/core/facilitator'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/facilitator'
import { EVM_NETWORK_CHAIN_ID_MAP } from '@x402/evm/v1'
import { type Context, Hono } from 'hono'
import {
  createWalletClient,
  defineChain,
  http,
  parseEther,
  publicActions,
  type TypedData,
} from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import * as z from 'zod'
import type { Chain } from '../chain.ts'
import { type Listening, listen } from '../process/listen.ts'
import { fund } from './fund.ts'

const pollMilliseconds = 20
const settleTimeoutMilliseconds = 30_000

/** A running facilitator and the address that pays for its gas. */
export type Facilitator = Listening & { address: `0x${string}` }

// This checks only that both are objects: the official code judges what they say.
const requestSchema = z.object({
  paymentPayload: z.custom<PaymentPayload>(isObject),
  paymentRequirements: z.custom<PaymentRequirements>(isObject),
})

const typesSchema = z.custom<TypedData>(isObject)

/** Serves /supported, /verify and /settle for every given chain. */
export async function startFacilitator(options: {
  chains: readonly Chain[]
  port?: number
}): Promise<Facilitator> {
  const account = privateKeyToAccount(generatePrivateKey())
  const facilitator = new x402Facilitator()
  for (const chain of options.chains) {
    await fund(chain, account.address, { weiAmount: parseEther('1000') })
    registerSchemes(facilitator, chain, account)
  }
  const listening = await listen(createApp(facilitator).fetch, options.port)
  return { ...listening, address: account.address }
}

function registerSchemes(
  facilitator: x402Facilitator,
  chain: Chain,
  account: PrivateKeyAccount,
): void {
  const signer = createSigner(chain, account)
  facilitator.register(chain.network, new ExactEvmScheme(signer))
  const names = Object.entries(EVM_NETWORK_CHAIN_ID_MAP)
    .filter(([, chainId]) => Number(chainId) === chain.chainId)
    .map(([name]) => z.custom<PaymentRequirements['network']>(isText).parse(name))
  // Version 1 has a closed list of network names. A chain that is not in it has version 2 only.
  if (names.length > 0) facilitator.registerV1(names, new ExactEvmSchemeV1(signer))
}

function createSigner({ chainId, rpcUrl }: Chain, account: PrivateKeyAccount) {
  const chain = defineChain({
    id: chainId,
    name: `local ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  const client = createWalletClient({
    account,
    chain,
    transport: http(rpcUrl),
    pollingInterval: pollMilliseconds,
  }).extend(publicActions)
  return toFacilitatorEvmSigner(
    {
      address: account.address,
      readContract: (call) => client.readContract({ ...call, args: call.args ?? [] }),
      verifyTypedData: ({ types, ...call }) =>
        client.verifyTypedData({ ...call, types: typesSchema.parse(types), blockTag: 'latest' }),
      writeContract: (call) => client.writeContract(call),
      sendTransaction: (call) => client.sendTransaction(call),
      waitForTransactionReceipt: (call) => client.waitForTransactionReceipt(call),
      getCode: (call) => client.getCode(call),
    },
    { confirmationTimeoutMs: settleTimeoutMilliseconds },
  )
}

function createApp(facilitator: x402Facilitator): Hono {
  const app = new Hono()
  let settling: Promise<unknown> = Promise.resolve()
  app.get('/supported', (context) => context.json(facilitator.getSupported()))
  app.post('/verify', async (context) => {
    const { paymentPayload, paymentRequirements } = await readRequest(context)
    return context.json(await facilitator.verify(paymentPayload, paymentRequirements))
  })
  app.post('/settle', async (context) => {
    const { paymentPayload, paymentRequirements } = await readRequest(context)
    const settle = () => facilitator.settle(paymentPayload, paymentRequirements)
    // The official code asks the node for its nonce, so two settlements at once would take the same.
    // There is one queue for all, because the two versions of x402 name one chain differently.
    const settled = settling.then(settle, settle)
    settling = settled
    return context.json(await settled)
  })
  app.onError((error, context) => context.json({ error: error.message }, 500))
  return app
}

async function readRequest(context: Context) {
  return requestSchema.parse(await context.req.json())
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}
