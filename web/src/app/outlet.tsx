import { Component, type ReactNode, Suspense } from 'react'
import { roleName } from '../features/accounts/role_name'
import { useText } from '../i18n/language'
import { Page } from '../ui/page'
import { EmptyState, ErrorState, LoadingState } from '../ui/states'
import { Link } from './router/link'
import { usePath } from './router/location'
import { matchPath } from './router/match'
import { routes } from './routes'
import { useSession } from './session'

/** The page of the address. */
export function Outlet() {
  const path = usePath()
  const t = useText()
  const { session, may } = useSession()
  for (const route of routes) {
    const params = matchPath(route.path, path)
    if (!params) continue
    if (!may(route.permission)) {
      return (
        <Page title={t('shell.forbidden.title')}>
          <p>{t('shell.forbidden.text', { permission: t(`settings.may.${route.permission}`), role: roleName(t, session.role) })}</p>
        </Page>
      )
    }
    return (
      <Failure key={path} title={t('ui.error.page')}>
        <Suspense fallback={<LoadingState />}><route.page params={params} /></Suspense>
      </Failure>
    )
  }
  return (
    <Page title={t('shell.missing.title')}>
      <EmptyState title={t('shell.missing.text', { path })} action={<Link href="/">{t('shell.missing.home')}</Link>} />
    </Page>
  )
}

/** Keeps the shell when a page fails. */
class Failure extends Component<{ title: string; children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    if (this.state.error === null) return this.props.children
    return <ErrorState title={this.props.title} error={this.state.error} retry={() => window.location.reload()} />
  }
}
