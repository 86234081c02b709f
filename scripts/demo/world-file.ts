/** The file in which a running local world tells where its parts are. */
import { existsSync, readFileSync } from 'node:fs'
import * as z from 'zod'

const schema = z.object({
  base_url: z.url(),
  api_keys: z.object({ read: z.string(), pay: z.string(), full: z.string() }),
  owner: z.object({ alias: z.string(), address: z.string() }),
  shop: z.object({ alias: z.string(), address: z.string() }),
  payee: z.string(),
  chains: z.array(z.object({ id: z.int(), rpc_url: z.url(), usdc: z.string() })).min(1),
  merchant: z.object({ v1_url: z.url(), v2_url: z.url() }),
})

export type WorldFile = z.output<typeof schema>

/** Reads it; throws with what to do when there is none. */
export function readWorldFile(file: string): WorldFile {
  if (!existsSync(file)) throw new Error(`${file} is missing: start the local world with npm start`)
  return schema.parse(JSON.parse(readFileSync(file, 'utf8')))
}
