import { assets } from './assets.ts'
import { webAppPath } from './visit.ts'

/** Name of a style, script or picture that pages load. */
export type Asset = keyof typeof assets

/** Returns the path from which a browser loads the asset. */
export function assetPath(name: Asset): string {
  return `${webAppPath}/assets/${assets[name].name}`
}
