/**
 * Chooses the ports of 127.0.0.1 for the local world. They are tried before anything starts, so that the
 * error for a taken port names it and nothing is left behind.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import * as z from 'zod'

/** Port of each part of the local world. */
export type Ports = {
  functions: number
  gateway: number
  baseSepolia: number
  arbitrumSepolia: number
  merchant: number
  smtp: number
  outbox: number
}

const portNames = [
  'functions',
  'baseSepolia',
  'arbitrumSepolia',
  'merchant',
  'smtp',
  'outbox',
  'gateway',
] as const

/** Returns the usual ports, with the functions on `port`. For port 0 the system chooses all of them. */
export async function choosePorts(port: number): Promise<Ports> {
  const usual = {
    functions: port,
    baseSepolia: 8545,
    arbitrumSepolia: 8546,
    merchant: 8402,
    smtp: 1025,
    outbox: 8025,
    gateway: 0,
  }
  const held: Server[] = []
  try {
    const chosen: Ports = { ...usual }
    for (const name of portNames) {
      const server = await hold(port === 0 ? 0 : usual[name])
      held.push(server)
      chosen[name] = portOf(server)
    }
    return chosen
  } finally {
    await Promise.all(held.map((server) => once(server.close(), 'close')))
  }
}

async function hold(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return server
  } catch (error) {
    const advice = 'stop what listens there, or use other ports: npm start -- --port 0'
    throw new Error(`port ${port} is taken: ${advice}`, { cause: error })
  }
}

const bound = z.object({ port: z.int().positive() })

function portOf(server: Server): number {
  return bound.parse(server.address()).port
}
