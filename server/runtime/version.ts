// The version of the service, as package.json says it.
import about from '../../package.json' with { type: 'json' };

export const { version } = about;
