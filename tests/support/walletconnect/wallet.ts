/** A wallet on another device: WalletConnect's own client, and an account that a local chain signs for. */
import { SignClient } from '@walletconnect/sign-client'
import * as z from 'zod'
import { fund, type TokenChain } from '../../../scripts/local/chain/fund.ts'
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import { randomBytes } from '../seed.ts'

export type FarWallet = {
  address: string
  /** Reads a pairing code and answers in the given manner. */
  pair(code: string, manner?: Manner): Promise<void>
  /** Methods that it was asked for, with their networks. */
  asked: string[]
  /** Ends every session from its side. */
  leave(): Promise<void>
  /** Returns the topics of the sessions that it considers open, the newest last. */
  sessions(): string[]
  close(): Promise<void>
}

export type Manner = 'agrees' | 'refuses to pair' | 'declines' | 'has another network'

type FarWalletOptions = {
  relay: { url: string; project_id: string }
  chain: TokenChain & { chainId: number }
  /** Amount in token units. */
  usdc: number
}

const requestSchema = z.object({
  chainId: z.string(),
  request: z.object({ method: z.string(), params: z.array(z.unknown()) }),
})
const declined = { code: 5000, message: 'User rejected.' }
const left = { code: 6000, message: 'User disconnected.' }

export async function openFarWallet({ relay, chain, usdc }: FarWalletOptions): Promise<FarWallet> {
  const address = z
    .templateLiteral(['0x', z.string()])
    .parse(`0x${randomBytes(20).toString('hex')}`)
  await fund(chain, address, { weiAmount: 10n ** 18n, usdcAtomic: BigInt(usdc) * 10n ** 6n })
  await callRpc(chain.rpcUrl, [['anvil_impersonateAccount', address]])
  const client = await openClient(relay)
  const asked: string[] = []
  let manner: Manner = 'agrees'
  client.on('session_proposal', ({ id }) => {
    const network = manner === 'has another network' ? 1 : chain.chainId
    const accounts = [`eip155:${network}:${address}`]
    const eip155 = { accounts, methods: ['eth_sendTransaction'], events: [] }
    if (manner === 'refuses to pair') void client.reject({ id, reason: declined })
    else void client.approve({ id, namespaces: { eip155 } })
  })
  client.on('session_request', async ({ topic, id, params }) => {
    const { request, chainId } = requestSchema.parse(params)
    asked.push(`${request.method} on ${chainId}`)
    const send = async () => {
      const [result] = await callRpc(chain.rpcUrl, [[request.method, ...request.params]])
      return { result }
    }
    const outcome = manner === 'declines' ? { error: declined } : await send()
    await client.respond({ topic, response: { id, jsonrpc: '2.0', ...outcome } })
  })
  return {
    address,
    asked,
    async pair(code, how = 'agrees') {
      manner = how
      await client.pair({ uri: code })
    },
    async leave() {
      const topics = client.session.keys
      await Promise.all(topics.map((topic) => client.disconnect({ topic, reason: left })))
    },
    sessions: () => client.session.keys,
    async close() {
      client.core.heartbeat.stop()
      await client.core.relayer.transportClose()
    },
  }
}

/** Opens a client with the protocol alone: no telemetry, no files, no log. */
function openClient({ url, project_id }: FarWalletOptions['relay']) {
  return SignClient.init({
    relayUrl: url,
    projectId: project_id,
    telemetryEnabled: false,
    storageOptions: { database: ':memory:' },
    logger: 'silent',
    metadata: {
      name: 'Far wallet',
      description: 'A wallet',
      url: 'https://wallet.example',
      icons: [],
    },
  })
}
