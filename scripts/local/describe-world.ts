/** What the local world tells other programs of itself, in the file that they read. */
import type { LocalWorld } from './local-world.ts'

/** A passkey belongs to a name, so the pages are not under an address of digits. */
export function webUrlOf({ url }: Pick<LocalWorld, 'url'>): string {
  return `${url.replace('127.0.0.1', 'localhost')}/web`
}

/** What other programs read to find their way around. */
export function describeWorld(world: Omit<LocalWorld, 'stop'>) {
  const { url, supabaseUrl, apiKeys, owner, shop, payee, chains, merchant, mail, dkim } = world
  return {
    base_url: url,
    supabase_url: supabaseUrl,
    web_url: webUrlOf(world),
    api_keys: apiKeys,
    owner: {
      email: owner.email,
      password: owner.password,
      alias: owner.alias,
      address: owner.address,
    },
    shop: { alias: shop.alias, address: shop.address },
    payee,
    chains: chains.map(({ chainId, rpcUrl, usdc, eurc }) => ({
      id: chainId,
      rpc_url: rpcUrl,
      usdc,
      ...(eurc ? { eurc } : {}),
    })),
    merchant: { v1_url: merchant.v1Url, v2_url: merchant.v2Url },
    mail: { smtp_url: mail.smtpUrl, outbox_url: mail.outboxUrl, dkim },
  }
}
