/** The file in which a running local world lists the addresses of its parts. */
import { existsSync, readFileSync } from 'node:fs'
import * as z from 'zod'

/** Schema of the file that a running world writes for other programs. */
export const worldFile = z.object({
  base_url: z.url(),
  web_url: z.url(),
  api_keys: z.object({ read: z.string(), pay: z.string(), full: z.string() }),
  owner: z.object({
    email: z.string(),
    password: z.string(),
    alias: z.string(),
    address: z.string(),
  }),
  shop: z.object({ alias: z.string(), address: z.string() }),
  payee: z.string(),
  chains: z.array(z.object({ id: z.int(), rpc_url: z.url(), usdc: z.string() })).min(1),
  merchant: z.object({ v1_url: z.url(), v2_url: z.url() }),
  mail: z.object({ outbox_url: z.url(), smtp_url: z.url() }),
})

/** Addresses and keys of a running world. */
export type WorldFile = z.output<typeof worldFile>

/** Reads the file. If it is missing, throws an error that says what to do. */
export function readWorldFile(file: string): WorldFile {
  if (!existsSync(file)) throw new Error(`${file} is missing: start the local world with npm start`)
  return worldFile.parse(JSON.parse(readFileSync(file, 'utf8')))
}
