/** The workers of a deployment at Cloudflare: planned from the contracts, built here, and uploaded. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildWorkers } from '../build/workers.ts'
import { plannedWorkers } from './plan.ts'
import { type Upload, type Uploaded, uploadWorkers } from './upload.ts'

/** The workers of a platform. */
export type Workers = {
  planned: typeof plannedWorkers
  /** Builds the functions and uploads the workers that differ. */
  upload: (order: Omit<Upload, 'modules'>) => Promise<Uploaded>
}

/** The workers of Cloudflare. */
export const cloudflareWorkers: Workers = {
  planned: plannedWorkers,
  async upload(order) {
    const modules = mkdtempSync(join(tmpdir(), 'aoa-workers-'))
    try {
      await buildWorkers(modules, order.plans)
      return await uploadWorkers({ ...order, modules })
    } finally {
      rmSync(modules, { recursive: true, force: true })
    }
  },
}
