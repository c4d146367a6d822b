import { readFileSync } from 'node:fs'
import type { Plugin } from 'vite'

const source = new URL('../src/app/first_paint.js', import.meta.url)

/** Puts a small classic script before everything else, as a file of its own: the policy forbids inline scripts. */
export function firstPaint(): Plugin {
  let isBuild = false
  let reference = ''
  return {
    name: 'first-paint',
    configResolved(config) {
      isBuild = config.command === 'build'
    },
    buildStart() {
      if (isBuild) reference = this.emitFile({ type: 'asset', name: 'first_paint.js', source: readFileSync(source, 'utf8') })
    },
    transformIndexHtml: {
      order: 'post',
      handler(html, context) {
        const path = isBuild && context.bundle
          ? Object.values(context.bundle).find((f) => f.type === 'asset' && f.names.includes('first_paint.js'))?.fileName
          : 'src/app/first_paint.js'
        if (!path) throw new Error(`first_paint.js is not in the bundle (${reference})`)
        return { html, tags: [{ tag: 'script', attrs: { src: `/${path}` }, injectTo: 'head-prepend' as const }] }
      },
    },
  }
}
