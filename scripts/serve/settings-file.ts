/** The parts that the settings files of a service have in common, wherever it runs. */
import { existsSync, readFileSync } from 'node:fs'
import { parse as parseToml, TomlError } from 'smol-toml'
import * as z from 'zod'
import { chainNamed, knownChains } from '../../shared/chains/registry.ts'

/** Fields of every settings file. */
export const serviceFields = {
  /** Domain of notices to owners. */
  notice_domain: z.string().min(1).optional(),
  /** Address of the mail provider: https://provider/emails, or smtps://user@host. */
  mail_url: z.url().optional(),
  /** Site key of a widget of Cloudflare Turnstile, which the sign-up page then shows. */
  turnstile_site_key: z.string().min(1).optional(),
  eur_usd_rate: z.string().optional(),
  /** Name of a chain, or its CAIP-2 id -> RPC endpoints; two of different operators are best. */
  rpc: z.record(z.string(), z.array(z.url()).min(1)).default({}),
}

/** Endpoints by the CAIP-2 id of their chain. */
export type Endpoints = Readonly<Record<string, readonly string[]>>

/** Reads a TOML file; one that does not exist is empty. Throws one sentence for the first wrong field. */
export function readSettingsFile<Fields extends z.ZodRawShape>(
  path: string,
  schema: z.ZodObject<Fields>,
): z.output<z.ZodObject<Fields>> {
  const read = schema.safeParse(existsSync(path) ? parseFile(path) : {})
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new Error(`${path}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim())
}

/** Parses TOML. The words of the parser repeat lines, which may hold secrets. */
function parseFile(path: string): unknown {
  try {
    return parseToml(readFileSync(path, 'utf8'))
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw new Error(`${path} is not TOML at line ${error.line}, column ${error.column}`)
  }
}

/** Returns endpoints by CAIP-2 id from those by the names of chains. */
export function byCaip2(named: Endpoints): Endpoints {
  return Object.fromEntries(Object.entries(named).map(([name, urls]) => [caip2Of(name), urls]))
}

/** Returns the CAIP-2 id of a chain of the registry. */
export function caip2Of(name: string): string {
  const found = chainNamed(name)
  if (found) return found.caip2
  const names = knownChains.map((one) => one.name).join(', ')
  throw new Error(`there is no chain ${name}; use one of ${names}`)
}
