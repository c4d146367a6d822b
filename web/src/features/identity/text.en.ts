export const identityEn = {
  'signin.title': 'Sign in',
  'signin.with.password': 'Password',
  'signin.with.token': 'Token',
  'signin.by': 'Sign in by {provider}',
  'signin.or': 'or',
  'signin.name': 'Name',
  'signin.password': 'Password',
  'signin.token': 'API token',
  'signin.token.hint': 'Begins with fth_. The first one is in admin.token in the server\'s state folder.',
  'signin.expired': 'Your session has ended. Sign in again to go on where you were.',
  'signin.wrong.password': 'Name or password is wrong.',
  'signin.wrong.token': 'The token is unknown, revoked or expired.',
}
