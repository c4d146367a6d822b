import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useText } from '../../i18n/language'
import { usePath } from '../router/location'
import { Header } from './header'
import { Navigation } from './navigation'
import { Palette } from './palette'
import styles from './shell.module.css'

/** What is around every page. */
export function Shell({ children }: { children: ReactNode }) {
  const t = useText()
  const path = usePath()
  const main = useRef<HTMLElement>(null)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isPaletteOpen, setPaletteOpen] = useState(false)

  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setPaletteOpen(true)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])

  // Going to another page takes the focus along, as loading a document would.
  const before = useRef(path)
  useEffect(() => {
    if (before.current === path) return
    before.current = path
    setMenuOpen(false)
    main.current?.focus()
  }, [path])

  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main" onClick={(event) => {
        event.preventDefault()
        main.current?.focus()
      }}>{t('shell.skip')}</a>
      <Header isMenuOpen={isMenuOpen} onMenu={() => setMenuOpen(!isMenuOpen)} onPalette={() => setPaletteOpen(true)} />
      <Navigation isOpen={isMenuOpen} />
      <main id="main" ref={main} tabIndex={-1} className={styles.main}>{children}</main>
      {isPaletteOpen ? <Palette onClose={() => setPaletteOpen(false)} /> : null}
    </div>
  )
}
