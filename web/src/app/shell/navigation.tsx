import { useText } from '../../i18n/language'
import { Link } from '../router/link'
import { usePath } from '../router/location'
import { groups, routes } from '../routes'
import { useSession } from '../session'
import styles from './shell.module.css'

/** Whether an entry stands for the page that is shown, or for one above it. */
function isCurrent(entry: string, path: string): boolean {
  return entry === '/' ? path === '/' : path === entry || path.startsWith(`${entry}/`)
}

export function Navigation({ isOpen }: { isOpen: boolean }) {
  const t = useText()
  const path = usePath()
  const { may } = useSession()
  return (
    <nav id="navigation" aria-label={t('shell.navigation')} className={`${styles.nav} ${isOpen ? styles.navOpen : ''}`}>
      {groups.map((group) => {
        const entries = routes.filter((route) => route.entry?.group === group && may(route.permission))
        if (entries.length === 0) return null
        return (
          <div key={group} role="group" aria-labelledby={`nav-${group}`}>
            <h2 id={`nav-${group}`}>{t(`shell.group.${group}`)}</h2>
            <ul>
              {entries.map((route) => (
                <li key={route.path}>
                  <Link href={route.path} aria-current={isCurrent(route.path, path) ? 'page' : undefined}>
                    {route.entry ? t(route.entry.title) : null}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        )
      })}
    </nav>
  )
}
