/** Serves the files of an installed app: its manifest, and the script that shows notifications. */
import { serviceTitle } from '../../../shared/contract/documents/about.ts'
import { assetPath } from '../asset.ts'
import { assets } from '../assets.ts'
import { type Routes, webAppPath } from '../visit.ts'

/** Routes of both. The script has a fixed address, because a browser asks there for its next version. */
export const routes: Routes = (app) => {
  app.get('/manifest.webmanifest', (c) => {
    const icon = { src: assetPath('icon'), sizes: 'any', type: 'image/svg+xml' }
    return c.body(
      JSON.stringify({
        name: serviceTitle,
        short_name: 'Agent Account',
        start_url: webAppPath,
        scope: webAppPath,
        display: 'standalone',
        icons: [icon],
      }),
      200,
      { 'content-type': 'application/manifest+json' },
    )
  })
  app.get('/push-worker.js', (c) => {
    const { text, type } = assets['push-worker']
    return c.body(text, 200, { 'content-type': type, 'cache-control': 'no-cache' })
  })
}
