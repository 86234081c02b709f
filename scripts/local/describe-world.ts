/** Describes the local world for the file that other programs read. */
import type { LocalWorld } from './local-world.ts'

/** Returns the address of the pages. It has a host name, because a passkey belongs to a name. */
export function webUrlOf({ url }: Pick<LocalWorld, 'url'>): string {
  return `${url.replace('127.0.0.1', 'localhost')}/web`
}

/** Returns the addresses and keys that other programs need. */
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
