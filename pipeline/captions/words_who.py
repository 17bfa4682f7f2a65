"""Who is there, and what they look like; outlines as `pipeline.captions.lexicon` reads them."""

KINDS = """
person|people / someone|people
  adult|adults / grown-up|grown-ups
    man|men / gentleman|gentlemen / guy|guys [common]
    woman|women / lady|ladies [common]
  child|children / kid|kids
    boy|boys / lad|lads [common]
    girl|girls [common]
  worker|workers
    cook|cooks
      chef|chefs
      baker|bakers
    medic|medics
      doctor|doctors / physician|physicians [common]
      nurse|nurses [common]
      dentist|dentists
    entertainer|entertainers
      clown|clowns
      juggler|jugglers
      magician|magicians
    craftsman|craftsmen
      carpenter|carpenters
      plumber|plumbers
      tailor|tailors
    guard|guards
      soldier|soldiers
      firefighter|firefighters
      sailor|sailors
    teacher|teachers
      professor|professors
    farmer|farmers [common]
      shepherd|shepherds
animal|animals / creature|creatures
  dog|dogs / hound|hounds [common]
    terrier|terriers
    poodle|poodles
    spaniel|spaniels
  cat|cats [common]
    tabby|tabbies
  farm animal|farm animals
    horse|horses [common]
      pony|ponies
    cow|cows
    sheep|sheep
    goat|goats
    pig|pigs
  bird|birds
    duck|ducks
    goose|geese
    swan|swans
    pigeon|pigeons
  wild animal|wild animals
    fox|foxes
    deer|deer
    bear|bears
    monkey|monkeys
"""

COUNTS = """
two / a pair of / a couple of [common]
several / at least three
  three [common]
  four [common]
  five
"""

AGES = """
young / youthful [common]
mature / no longer young
  middle-aged
  old / elderly / aged [common]
"""

SIZES = """
small / little [common]
  tiny
large / big [common]
  huge / enormous
"""

COLOURS = """
red [common]
  scarlet
  maroon
blue [common]
  navy
  turquoise
green [common]
  olive
  lime
yellow
orange
purple
pink
black [common]
white
grey
brown
  chestnut
* dark: maroon, navy, olive, black, chestnut
* bright: scarlet, turquoise, lime, yellow, orange, pink
"""

MOODS = """
contented / in a good mood
  happy / cheerful / joyful [common]
  calm / relaxed
  proud
upset / in a bad mood
  sad / gloomy [common]
  angry / furious [common]
  frightened / scared
  bored
"""

HEADGEAR = """
headgear / something on the head
  a hat|hats [common]
    a straw hat|straw hats
    a top hat|top hats
    a cowboy hat|cowboy hats
  a cap|caps [common]
    a baseball cap|baseball caps
  a helmet|helmets [common]
  a hood|hoods
  a headscarf|headscarves
nothing on the head
"""

GARMENTS = (
    "shirt|shirts",
    "jacket|jackets",
    "coat|coats",
    "sweater|sweaters",
    "raincoat|raincoats",
    "vest|vests",
    "scarf|scarves",
    "apron|aprons",
)
