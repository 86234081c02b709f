/**
 * Serves a function as a Supabase Edge Function: each is a program of its own on Deno, and its settings are
 * environment variables. They have a prefix, because all functions of a project share them, and because Supabase
 * takes no name that begins with SUPABASE_.
 */
import type { Serving } from '../../shared/http/later.ts'
import { remoteBinding } from '../../shared/remote/caller.ts'
import type { Target } from '../../shared/remote/calls.ts'
import { worldFrom } from '../../shared/world.ts'

/** Prefix of the environment variables. */
export const prefix = 'AOA_'

declare const Deno: {
  env: { get(name: string): string | undefined }
  serve(answer: (request: Request) => Response | Promise<Response>): unknown
}

/** A function's needs: names of its vars and secrets, and functions that it calls elsewhere. */
export type Needs = { texts: readonly string[]; calls: readonly Target[] }

/** Serves the function. It reads its settings at the first request, whose log then shows what is wrong with them. */
export function serveAtSupabase(made: { fetch: Serving }, needs: Needs): void {
  let bindings: Record<string, unknown> | undefined
  Deno.serve((request) => {
    bindings ??= edgeBindings(needs)
    return made.fetch(request, bindings, execution)
  })
}

/** Keeps a function of Supabase alive after its answer; plain Deno has no such thing, and needs none. */
declare const EdgeRuntime: { waitUntil(work: Promise<unknown>): void } | undefined

const execution = {
  waitUntil(work: Promise<unknown>) {
    if (typeof EdgeRuntime !== 'undefined') EdgeRuntime.waitUntil(work)
  },
  passThroughOnException() {},
  props: {},
}

function edgeBindings({ texts, calls }: Needs): Record<string, unknown> {
  const given = textsNamed(texts)
  if (calls.length === 0) return given
  const world = worldFrom({ ...given, ...textsNamed(['REMOTE_CALLS_PRIVATE_KEY']) })
  return { ...given, ...Object.fromEntries(calls.map((to) => [to, remoteBinding(world, to)])) }
}

function textsNamed(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = Deno.env.get(`${prefix}${name}`)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
