/** Serves the floor in a Miniflare like the functions' own: router, one worker, one egress worker. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, transformSync } from 'esbuild'
import { Log, LogLevel, Miniflare } from 'miniflare'
import { choosePorts } from '../local/ports.ts'
import type { BenchWorld } from './world.ts'
import { secrets } from './world.ts'

const compatibilityDate = '2026-10-20'

export async function startFloor(
  world: BenchWorld,
): Promise<{ url: string; stop(): Promise<void> }> {
  const { functions: port } = await choosePorts(0)
  const miniflare = new Miniflare({
    cf: false,
    host: '127.0.0.1',
    port: 0,
    log: new Log(LogLevel.ERROR),
    workers: [
      {
        config: {
          ...module('router', localWorker('router')),
          env: {
            ROUTES: { type: 'json', value: [['/', 'floor']] },
            floor: { type: 'worker', worker: 'floor' },
          },
        },
        dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port }] },
      },
      {
        config: {
          ...module('floor', await bundleFloor(world.directory)),
          env: {
            SUPABASE_URL: { type: 'text', value: world.gatewayUrl },
            SUPABASE_SERVICE_KEY: { type: 'text', value: secrets.service },
          },
        },
        dev: {
          outboundService: {
            type: 'worker',
            worker: 'egress',
            props: { hosts: [new URL(world.gatewayUrl).host], strangers: false },
          },
        },
      },
      { config: module('egress', localWorker('egress')) },
    ],
  })
  await miniflare.ready
  return { url: `http://127.0.0.1:${port}`, stop: () => miniflare.dispose() }
}

function module(name: string, contents: string) {
  const modules = { 'index.mjs': { type: 'esm' as const, contents } }
  return {
    name,
    compatibilityDate,
    manifest: { mainModule: 'index.mjs', modulesRoot: '/', modules },
  }
}

function localWorker(name: 'router' | 'egress'): string {
  const file = fileURLToPath(new URL(`../local/workers/${name}.ts`, import.meta.url))
  return transformSync(readFileSync(file, 'utf8'), { loader: 'ts' }).code
}

async function bundleFloor(directory: string): Promise<string> {
  const outfile = join(directory, 'floor.mjs')
  await build({
    entryPoints: [fileURLToPath(new URL('floor-worker.ts', import.meta.url))],
    outfile,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2024',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*'],
    logLevel: 'error',
  })
  return readFileSync(outfile, 'utf8')
}
