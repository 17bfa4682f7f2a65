"""What happens, where and when; outlines as `pipeline.captions.lexicon` reads them."""

ACTIONS = """
making music
  playing an instrument|playing instruments
    playing a string instrument|playing string instruments
      playing the guitar / strumming a guitar|strumming guitars [common]
      playing the violin / playing the fiddle
      playing the cello
    playing a wind instrument|playing wind instruments
      playing the flute
      playing the trumpet / blowing a trumpet|blowing trumpets
      playing the clarinet
    playing the drums / drumming
  singing / singing a song|singing songs
playing a game|playing games
  playing a ball game|playing ball games
    playing football / playing soccer [out]
    playing tennis
    playing basketball
  playing a board game|playing board games
    playing chess
    playing draughts / playing checkers
  playing cards
eating / having a bite|having a bite [animal]
  eating fruit
    eating an apple|eating apples [common]
    eating a banana|eating bananas
    eating a pear|eating pears
  eating a hot meal|eating hot meals
    eating pizza
    eating soup
    eating noodles
  eating a sandwich|eating sandwiches
  eating cake
drinking / having a drink|having a drink [animal]
  drinking a hot drink|drinking hot drinks
    drinking coffee
    drinking tea
  drinking a cold drink|drinking cold drinks
    drinking lemonade
    drinking milk
reading
  reading a book|reading books [common]
    reading a novel|reading novels
  reading a newspaper|reading newspapers / reading the news
  reading a letter|reading letters
  reading a map|reading maps
writing
  writing a letter|writing letters
  writing a poem|writing poems
moving on foot [animal]
  running [animal, common]
    jogging
    sprinting [animal]
  walking [animal, common]
    strolling / taking a stroll
    limping [animal]
  jumping / leaping [animal]
riding something / taking a ride
  riding a bicycle|riding bicycles / cycling [out]
  riding a horse|riding horses [out]
  riding a scooter|riding scooters [out]
  riding a skateboard|riding skateboards / skateboarding [out]
resting / having a rest [animal]
  sleeping / slumbering [animal, common]
    napping / taking a nap [animal]
  lying down [animal]
  sitting / sitting down [animal]
cleaning something
  washing something
    washing the dishes [in]
    washing the windows
    washing a car|washing cars [out]
  sweeping the floor [in]
  polishing a mirror|polishing mirrors [in]
repairing something / fixing something
  repairing a bicycle|repairing bicycles / fixing a bicycle|fixing bicycles
  repairing a clock|repairing clocks / fixing a clock|fixing clocks
  repairing a car|repairing cars / fixing a car|fixing cars
making art
  drawing
    drawing a map|drawing maps
    drawing a face|drawing faces
  painting a picture|painting pictures
  carving a statue|carving statues
talking / speaking
  whispering
  telling a story|telling stories
  talking on the phone / speaking on the phone
doing a water sport|doing water sports [out, water]
  swimming [out, water, animal]
  surfing [out, water]
  rowing a boat|rowing boats / rowing [out, water]
climbing [out]
  climbing a tree|climbing trees [out]
  climbing a ladder|climbing ladders [out]
gardening [out]
  watering the flowers [out]
  planting a tree|planting trees [out]
  cutting the grass / mowing the grass [out]
cooking / preparing food [in]
  frying fish [in]
  baking bread [in]
  boiling eggs [in]
dancing
digging [out, animal]
"""

# Here `|` separates the active from the passive participle.
RELATIONS = """
following|followed [animal]
  chasing|chased [animal, common]
  stalking|stalked [animal]
looking at|looked at [animal]
  watching|watched [animal, common]
  photographing|photographed
  admiring|admired
touching|touched [animal]
  patting|patted
  tickling|tickled
  nudging|nudged [animal]
moving|moved [animal]
  pushing|pushed [animal, common]
  pulling|pulled [animal, common]
  carrying|carried
helping|helped
  feeding|fed
  rescuing|rescued [animal]
leading|led [animal]
waking|woken [animal]
passing|passed [animal]
"""


PLACES = """
outdoors / outside / in the open air
  near the water / by the water
    on the beach / on a beach [common]
    by the river / by a river
    by the lake / beside a lake
    at the harbour / in a harbour
  in the countryside
    in the forest / in a forest [common]
    in the mountains
    in a field / in a meadow
    on a farm
  in the city / in a city
    in the street / on the street [common]
    in a park / in the park [common]
    at the market / at a market
    at a bus stop / at the bus stop
  in the garden / in a garden
indoors / inside / inside a building
  in a house / at home
    in the kitchen / in a kitchen [common]
    in the bedroom / in a bedroom [common]
    in the living room / in a living room
    in the attic
  in a shop / in a store
    in a bakery / in the bakery
    in a bookshop / in the bookshop
    in a supermarket / in the supermarket
  in a school
    in a classroom / in the classroom [common]
    in a gymnasium
  in a library / in the library [common]
  in a restaurant / in the restaurant
  in a museum / at the museum
  in a hospital / at the hospital
"""

TIMES = """
during the day / in the daytime
  in the morning [common]
    at dawn / at sunrise
  at noon / at midday
  in the afternoon [common]
in the evening [common]
  at dusk / at sunset
at night / after dark [common]
  at midnight
"""

DAYS = """
on a weekday / on a working day
  on a Monday / on Monday [common]
  on a Tuesday / on Tuesday
  on a Wednesday / on Wednesday
  on a Thursday / on Thursday
  on a Friday / on Friday
at the weekend / on the weekend
  on a Saturday / on Saturday [common]
  on a Sunday / on Sunday [common]
"""

# Here `|` separates the adjunct from the clause.
WEATHER = """
in bad weather|the weather is bad
  in the rain|it is raining [common]
    in a drizzle|it is drizzling
    in a downpour|it is pouring
  in the snow|it is snowing [common]
  in a hailstorm|it is hailing
  in the fog|it is foggy / in the mist|it is misty
in good weather|the weather is good / in fine weather|the weather is fine
  in the sunshine|it is sunny / under a blue sky|the sky is blue [common]
"""
