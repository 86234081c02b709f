import { assets } from './assets.ts'
import { pagesBelow } from './visit.ts'

export type Asset = keyof typeof assets

/** Where a browser loads it from. */
export function addressOf(name: Asset): string {
  return `${pagesBelow}/assets/${assets[name].name}`
}
