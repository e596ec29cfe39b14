interface Brand {
  readonly brand: string;
  readonly version: string;
}

interface FullNavigator extends Navigator {
  readonly userAgentData?: { readonly brands: readonly Brand[]; readonly platform: string };
  /** Gigabytes, rounded by the browser. */
  readonly deviceMemory?: number;
}

/** Browser and machine, as far as the browser reports them. */
export function machine(): string {
  const { userAgent, userAgentData, hardwareConcurrency, deviceMemory } =
    navigator as FullNavigator;
  const brand = userAgentData?.brands.find(({ brand }) => !/not.?a.?brand/i.test(brand));
  const [, name = 'A browser', version = ''] =
    /(Firefox|Edg|Chrome|Version)\/(\d+)/.exec(userAgent) ?? [];
  const browser = brand
    ? `${brand.brand} ${brand.version}`
    : `${name === 'Version' ? 'Safari' : name} ${version}`;
  const system = userAgentData?.platform ?? /\(([^;)]+)/.exec(userAgent)?.[1] ?? '';
  const memory = deviceMemory ? `, ${deviceMemory} GB of memory or more` : '';
  return `${browser} on ${system}, ${hardwareConcurrency} cores${memory}`;
}
